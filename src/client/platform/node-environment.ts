// The environment of a stdio server: its inherited variables, and where its command is found.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export const isWindows: boolean = process.platform === "win32";

/** The variables that a server inherits. Others may hold secrets of this process: pass those that the server needs as `env`. */
const inheritedNames: readonly string[] = isWindows
  ? [
      "APPDATA",
      "COMSPEC",
      "HOMEDRIVE",
      "HOMEPATH",
      "LOCALAPPDATA",
      "PATH",
      "PATHEXT",
      "PROCESSOR_ARCHITECTURE",
      "PROGRAMDATA",
      "PROGRAMFILES",
      "SYSTEMDRIVE",
      "SYSTEMROOT",
      "TEMP",
      "TMP",
      "USERNAME",
      "USERPROFILE",
      "WINDIR",
    ]
  : ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/** The values of a child's variables, by name. */
export type Environment = Readonly<Record<string, string>>;

/** The variables of a server: the inherited ones, and those that the user passes. */
export function environmentOf(given: Environment | undefined): Environment {
  const inherited = inheritedNames.flatMap((name) => {
    const value = process.env[name];
    // Old versions of bash export functions as values that begin like this, and run them when they start.
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...given };
}

/** A command, and where to find it. */
export interface Spawning {
  readonly command: string;
  readonly cwd: string;
  readonly env: Environment;
}

/**
 * Explains why a command cannot start, and what to do. The error of the operating system names the command even if the folder is
 * missing.
 */
export function explainSpawnError(error: NodeJS.ErrnoException, { command, cwd, env }: Spawning): string {
  if (!isFolder(cwd))
    return `${exists(cwd) ? "it is not a folder" : "the folder does not exist"}: correct cwd`;
  const isPath = /[/\\]/.test(command);
  const path = isPath ? resolve(cwd, command) : findIn(env["PATH"] ?? "", command, cwd);
  if (path !== undefined && /\.(cmd|bat)$/i.test(path))
    return `${path} is a batch file: pass cmd as the command, and ["/c", ${JSON.stringify(command)}, …] as args`;
  if (error.code === "EACCES" && path !== undefined) return `${path} is not an executable file`;
  if (error.code !== "ENOENT") return error.message;
  if (path !== undefined && exists(path))
    return `${path} exists, but the program that its first line names does not`;
  const missing =
    path === undefined
      ? `no folder of PATH has it (${env["PATH"] ?? "PATH is empty"}): install it, or pass its whole path`
      : `${path} does not exist`;
  return lineProblem(command, cwd) ?? missing;
}

/** Explains a command that does not exist: it is a line for a shell, or a program together with its arguments. */
function lineProblem(command: string, cwd: string): string | undefined {
  if (/[|&;<>]/.test(command))
    return 'it needs a shell: pass { command: "sh", args: ["-c", "…"] }, or cwd instead of cd';
  const [program = "", ...words] = command.trim().split(/\s+/);
  const isPath = /[/\\]/.test(program);
  // The folders of a path may have spaces in their names.
  if (words.length === 0 || (isPath && !exists(resolve(cwd, program)))) return undefined;
  const args = words.length === 1 ? "its argument" : `its ${words.length} arguments`;
  return `it is a whole command line: pass { command: ${JSON.stringify(program)}, args: [${args}] }`;
}

/** The first file of that name in the folders of PATH. */
function findIn(path: string, command: string, cwd: string): string | undefined {
  const endings = isWindows ? ["", ".exe", ".cmd", ".bat"] : [""];
  return path
    .split(delimiter)
    .flatMap((folder) =>
      endings.map((ending) => join(isAbsolute(folder) ? folder : resolve(cwd, folder), command + ending)),
    )
    .find(exists);
}

function exists(path: string): boolean {
  try {
    accessSync(path, constants.F_OK);
    return true;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
