// The transport of stdio servers: each channel starts a process.
import { clip, ConfigurationError } from "../../base/errors.ts";
import type { Channel, Receiver, Transport } from "../channel/channel.ts";
import { beyond } from "../channel/incoming.ts";
import { PipeChannel } from "../channel/pipe-channel.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { type CommandTarget, readCommand } from "../settings/command.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import { printable, shownUrl, type Variables, variablesOf, withVariableNames } from "../settings/shown.ts";
import { environmentOf } from "./node-environment.ts";
import { type ServerCommand, startServer } from "./node-server-process.ts";
import { isSecretSetting } from "../redaction/secret-names.ts";

/** How many lines of standard output that are not messages are reported for one process. */
const maxStrayReports = 100;

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
    const { command, args, cwd = process.cwd(), env, restart, graceMs } = readCommand(target);
    checkPassable({ command: [command], args, cwd: [cwd], env: Object.entries(env).flat() });
    this.address = [command, ...shownArguments(args, variablesOf(target))].join(" ");
    this.secrets = secrets;
    addCommandSecrets(secrets, args, env);
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
    return Object.assign(channel, { written: () => server.written() });
  }
}

/** Throws for a text that no process can receive. The error leaves out the text, which Node would show. */
function checkPassable(given: Readonly<Record<string, readonly string[]>>): void {
  for (const [field, passed] of Object.entries(given)) {
    if (!passed.some((each) => each.includes("\0"))) continue;
    const problem = "contains a zero byte, which no process can receive: remove it";
    throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field }, problem);
  }
}

/** Adds the secrets in the arguments and variables of a command. */
function addCommandSecrets(
  secrets: Secrets,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): void {
  const settings = [...args.keys()].map((at) => settingOf(args, at));
  for (const [name, value] of [...settings, ...Object.entries(env)])
    for (const secret of secretsIn(name, value)) secrets.add("secret", secret, `command ${name}`);
}

/** The arguments as errors show them: without secrets, and without the query of a URL. */
function shownArguments(args: readonly string[], variables: Variables): string[] {
  return args.map((argument, at) => {
    const [name, value] = settingOf(args, at);
    const safe = isUrl(value)
      ? shownUrl(value)
      : secretsIn(name, value).reduce((text, secret) => text.replaceAll(secret, "[redacted]"), value);
    return withVariableNames(argument.slice(0, argument.length - value.length) + safe, variables);
  });
}

const option = /^--?([\w.-]+)(?:=(.*))?$/s;

/** The name and the value of an argument: `--api-key=value`, or the value after `--api-key`. */
function settingOf(args: readonly string[], at: number): readonly [name: string, value: string] {
  const argument = args[at] as string;
  const [isOption, name = "", value] = option.exec(argument) ?? [];
  if (isOption !== undefined) return [name, value ?? ""];
  const [, before = "", given] = option.exec(args[at - 1] ?? "") ?? [];
  return [given === undefined ? before : "", argument];
}

/** A named value inside of another value: in the query of a URL, a header, JSON, or the parts of a connection string. */
const pair =
  /([\w.-]{1,60})(?:=|["']?:(?!\/\/)\s*["']?)(?:(?:bearer|basic|dpop|token)\s+)?([^"'&;,\s<>(){}=?]{6,}=*)/gi;

/** The secrets in a value: the whole value if its name marks it as secret. */
function secretsIn(name: string, value: string): string[] {
  if (value === "") return [];
  if (isSecretSetting(name)) return [value];
  const found = [...value.matchAll(pair)];
  const inside = found.flatMap(([, inner = "", secret = ""]) => (isSecretSetting(inner) ? [secret] : []));
  if (!isUrl(value)) return inside;
  const { username, password } = new URL(value);
  // Some services expect the token as the user name.
  return [password || username, ...inside].filter((secret) => secret !== "");
}

function isUrl(value: string): boolean {
  return /^[\w+.-]+:\/\//.test(value) && URL.canParse(value);
}
