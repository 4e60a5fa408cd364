// The options of a command that starts a stdio server, and their checks.
import {
  filledText,
  flag,
  type Known,
  milliseconds,
  needed,
  preset,
  textRecord,
  texts,
} from "../../base/kinds.ts";
import { checkOptions, type Filled, withDefaults } from "../../base/options.ts";

/** How to start a stdio server. */
export interface CommandTarget {
  /**
   * The program: its name in PATH, or its path. On Windows a batch file such as `npx.cmd` is found by its name `npx`; none of its `args` may
   * have a quote, a percent sign or a line break.
   */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** @default {the folder of this process} */
  readonly cwd?: string | undefined;
  /** Added to the few variables that the server inherits, such as PATH and HOME. */
  readonly env?: { readonly [name: string]: string } | undefined;
  /** Whether the client restarts a server that ended, with waits between. @default {false} */
  readonly restart?: boolean | undefined;
  /**
   * Milliseconds that the server may take to end by itself once its input is closed. After it, the client sends SIGTERM, and
   * after as long again SIGKILL, to everything that the server started. @default {2000}
   */
  readonly graceMs?: number | undefined;
}

/** The options of a command, with defaults where there are some. */
export interface CommandSettings extends Filled<Omit<CommandTarget, "cwd">>, Pick<CommandTarget, "cwd"> {}

const known: Known<CommandTarget, CommandSettings> = {
  command: needed({ ...filledText, mustBe: "the program to start" }),
  args: preset({ ...texts, mustBe: 'a list of texts, such as ["server.js"]' }, []),
  cwd: { ...filledText, mustBe: "the path of a folder" },
  env: preset(textRecord, {}),
  restart: preset(flag, false),
  graceMs: preset(milliseconds, 2000),
};

/** Throws for an option of a command that is unknown or invalid, and fills in the defaults. */
export function readCommand(target: CommandTarget): CommandSettings {
  checkOptions({ subject: "connect", problem: otherField }, target, known);
  return withDefaults(target, known);
}

/** Advice for field names of configuration files and of `spawn`. */
function otherField(field: string, value: unknown): string | undefined {
  if (field === "type") return "is not an option: leave it out; a command is always a server on stdio";
  if (field === "shell") return 'is not an option: pass { command: "sh", args: ["-c", "…"] }';
  if (field !== "name") return undefined;
  return `is not an option: leave it out; connectAll({ ${String(value)}: { command, args } }) has names`;
}
