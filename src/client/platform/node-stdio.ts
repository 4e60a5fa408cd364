// The transport of stdio servers: each channel starts a process.
import { clip } from "../../errors.ts";
import { filledText, flag, type Known, milliseconds, needed, textRecord, texts } from "../../kinds.ts";
import { checkOptions } from "../../options.ts";
import type { Channel, Receiver, Transport } from "../channel/channel.ts";
import { beyond } from "../channel/incoming.ts";
import { PipeChannel } from "../channel/pipe-channel.ts";
import { isSecretSetting } from "../redaction/secret-names.ts";
import type { Secrets } from "../redaction/secrets.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { CommandTarget } from "../settings/options.ts";
import { printable, shownUrl } from "../settings/shown.ts";
import { environmentOf } from "./node-environment.ts";
import { type ServerCommand, startServer } from "./node-server-process.ts";

/** How many lines of standard output that are no messages are reported of one process. */
const maxStrayReports = 100;

const knownCommand: Known<CommandTarget> = {
  command: needed({ ...filledText, mustBe: "the program to start" }),
  args: { ...texts, mustBe: 'a list of texts, such as ["server.js"]' },
  cwd: { ...filledText, mustBe: "the path of a folder" },
  env: textRecord,
  restart: flag,
  graceMs: milliseconds,
};

export class StdioTransport implements Transport {
  readonly kind = "stdio";
  readonly hasHeaders = false;
  readonly address: string;
  readonly secrets: Secrets;
  readonly reopens: boolean;
  readonly #command: ServerCommand;
  readonly #limits: ClientLimits;
  readonly #observe: (event: ClientEvent) => void;

  constructor(
    target: CommandTarget,
    limits: ClientLimits,
    secrets: Secrets,
    observe: (event: ClientEvent) => void,
  ) {
    checkOptions({ subject: "connect" }, target, knownCommand);
    const { command, args = [], cwd = process.cwd(), env, restart = false, graceMs = 2000 } = target;
    this.address = [command, ...args.map((_, at) => shownArgument(args, at))].join(" ");
    this.secrets = secrets;
    for (const [name, value] of Object.entries(env ?? {})) {
      if (isSecretSetting(name)) secrets.add(name, value);
      else if (URL.canParse(value)) secrets.add("password", new URL(value).password);
    }
    for (const at of args.keys()) secrets.add("secret", secretArgument(args, at));
    this.reopens = restart;
    this.#command = { command, args, cwd, env: environmentOf(env), graceMs, ...limits };
    this.#limits = limits;
    this.#observe = observe;
  }

  async open(receiver: Receiver, signal: AbortSignal): Promise<Channel> {
    signal.throwIfAborted();
    let stray = 0;
    const server = await startServer(this.#command, this.secrets, {
      stderr: (line) => this.#observe({ type: "stderr", line }),
      stray: (line) => {
        if (stray++ < maxStrayReports)
          receiver.ignored(`A line of standard output is not a message: ${clip(printable(line))}`);
      },
      tooLong: (start) =>
        channel.refuse(
          start,
          beyond(`The message is larger than ${this.#limits.maxBytes} bytes`, "maxBytes"),
        ),
    });
    const channel = new PipeChannel(server, receiver, this.#limits);
    return channel;
  }
}

const option = /^--?([\w.-]+)(?:=(.*))?$/s;

/** The value of an argument that its name says is a secret: `--api-key=value`, or the value after `--api-key`. */
function secretArgument(args: readonly string[], at: number): string | undefined {
  const [, name = "", value] = option.exec(args[at] as string) ?? [];
  if (value !== undefined) return isSecretSetting(name) ? value : undefined;
  const [, before = "", given] = option.exec(args[at - 1] ?? "") ?? [];
  return given === undefined && isSecretSetting(before) && name === "" ? args[at] : undefined;
}

/** An argument as errors show it: without secrets, and without the query of a URL. */
function shownArgument(args: readonly string[], at: number): string {
  const argument = args[at] as string;
  const secret = secretArgument(args, at);
  if (secret) return argument.replace(secret, "[redacted]");
  return /^\w+:\/\//.test(argument) ? shownUrl(argument) : argument;
}
