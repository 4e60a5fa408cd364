// The transport of stdio servers: each channel starts a process.
import { isTimerMs } from "../../async/timers.ts";
import { clip, ConfigurationError } from "../../errors.ts";
import type { Channel, Receiver, Transport } from "../channel/channel.ts";
import { beyond } from "../channel/incoming.ts";
import { PipeChannel } from "../channel/pipe-channel.ts";
import type { ClientEvent } from "../settings/events.ts";
import type { ClientLimits } from "../settings/limits.ts";
import type { CommandTarget } from "../settings/options.ts";
import { environmentOf } from "./node-environment.ts";
import { type ServerCommand, startServer } from "./node-server-process.ts";

/** How many lines of standard output that are no messages are reported of one process. */
const maxStrayReports = 100;

export class StdioTransport implements Transport {
  readonly kind = "stdio";
  readonly hasHeaders = false;
  readonly address: string;
  readonly reopens: boolean;
  readonly #command: ServerCommand;
  readonly #limits: ClientLimits;
  readonly #observe: (event: ClientEvent) => void;

  constructor(target: CommandTarget, limits: ClientLimits, observe: (event: ClientEvent) => void) {
    checkTarget(target);
    const { command, args = [], cwd = process.cwd(), env, restart = false, graceMs = 2000 } = target;
    this.address = [command, ...args].join(" ");
    this.reopens = restart;
    this.#command = { command, args, cwd, env: environmentOf(env), graceMs, ...limits };
    this.#limits = limits;
    this.#observe = observe;
  }

  async open(receiver: Receiver, signal: AbortSignal): Promise<Channel> {
    signal.throwIfAborted();
    let stray = 0;
    const server = await startServer(this.#command, {
      stderr: (line) => this.#observe({ type: "stderr", line }),
      stray: (line) => {
        if (stray++ < maxStrayReports)
          receiver.ignored(`A line of standard output is not a message: ${clip(line)}`);
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

function checkTarget(target: CommandTarget): void {
  const fail = (field: string, problem: string): never => {
    throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field }, problem);
  };
  if (target.command === "") fail("command", "is empty: pass the program to start");
  if (target.graceMs !== undefined && !isTimerMs(target.graceMs))
    fail("graceMs", `is ${target.graceMs}: pass a whole number of milliseconds above 0`);
}
