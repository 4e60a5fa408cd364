// Which program starts for a command. Windows starts batch files, such as npx.cmd, only by its shell, which reads their arguments again.
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** The values of a child's variables, by name. */
export type Environment = Readonly<Record<string, string>>;

/** Whether this process runs on Windows. */
export function isWindows(): boolean {
  return process.platform === "win32";
}

/** A program of Windows by its full path, because Windows looks for a bare name in the current folder first. */
export function systemProgram(name: string): string {
  return join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", name);
}

/** A command, and where to find it. */
export interface Startable {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
}

/** What to spawn. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are quoted already, as Windows needs them. */
  readonly isVerbatim: boolean;
}

/** The program of a command. Throws if a batch file would not receive an argument as it is. */
export function programOf({ command, args, cwd, env }: Startable): Program {
  const path = isWindows() ? findProgram(command, cwd, env) : undefined;
  if (path === undefined || !/\.(?:cmd|bat)$/i.test(path)) return { file: command, args, isVerbatim: false };
  const line = [path, ...args].map(quoted).join(" ");
  return {
    file: process.env["ComSpec"] ?? systemProgram("cmd.exe"),
    args: ["/d", "/s", "/v:off", "/c", `"${line}"`],
    isVerbatim: true,
  };
}

/** Where a command is: at its path in `cwd`, or in the first folder of PATH that has it. */
export function findProgram(command: string, cwd: string, env: Environment): string | undefined {
  const isPath = /[/\\]/.test(command);
  const folders = isPath ? [""] : (env["PATH"] ?? env["Path"] ?? "").split(delimiter);
  return folders
    .flatMap((folder) => endingsOf(command).map((ending) => resolve(cwd, folder, command + ending)))
    .find((path) => existsSync(path));
}

/** Windows adds an ending to a name that has none. It starts no file without one, such as the script of npx for other systems. */
function endingsOf(command: string): readonly string[] {
  if (!isWindows()) return [""];
  return /\.[^./\\]+$/.test(command) ? [""] : [".com", ".exe", ".bat", ".cmd"];
}

/** An argument in quotes, in which the shell replaces nothing but variables. */
function quoted(argument: string, at: number): string {
  if (/["%\r\n]/.test(argument)) {
    const which = at === 0 ? "its path" : `args[${at - 1}]`;
    throw new Error(
      `it is a batch file, and ${which} has a quote, a percent sign or a line break, which the shell would change: start its program without it, as with command: "node"`,
    );
  }
  // The program takes a backslash before a quote for part of it.
  return `"${argument.replace(/\\+$/, "$&$&")}"`;
}
