// The environment of a stdio server: its inherited variables, and where its command is found.
import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { type Environment, findProgram, isWindows } from "./node-program.ts";

/** The variables that a server inherits. Others may hold secrets of this process: pass those that the server needs as `env`. */
const inheritedNames = {
  windows: [
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
  ],
  posix: ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"],
};

/** The variables of a server: the inherited ones, and those that the user passes. */
export function environmentOf(given: Environment = {}): Environment {
  // Windows ignores the case of names, and takes one of two that differ only in it.
  const replaced = new Set(Object.keys(given).map((name) => (isWindows() ? name.toUpperCase() : name)));
  const names = isWindows() ? inheritedNames.windows : inheritedNames.posix;
  const inherited = names.flatMap((name) => {
    if (replaced.has(name)) return [];
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
  const path = findProgram(command, cwd, env) ?? (isPath ? resolve(cwd, command) : undefined);
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
    return `it needs a shell: pass ${isWindows() ? '{ command: "cmd", args: ["/c", "…"] }' : '{ command: "sh", args: ["-c", "…"] }'}, or cwd instead of cd`;
  const [program = "", ...words] = command.trim().split(/\s+/);
  const isPath = /[/\\]/.test(program);
  // The folders of a path may have spaces in their names.
  if (words.length === 0 || (isPath && !exists(resolve(cwd, program)))) return undefined;
  const args = words.length === 1 ? "its argument" : `its ${words.length} arguments`;
  return `it is a whole command line: pass { command: ${JSON.stringify(program)}, args: [${args}] }`;
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
