// Connects a client: checks the options, finds the transport for the target, and joins the parts of a client.
import { platform } from "#client-platform";
import { later } from "../async/later.ts";
import { ConfigurationError } from "../errors.ts";
import type { WireSource } from "../wire/wire.ts";
import { HandlerAnswers } from "./answering/answers.ts";
import { type Calls, joinCalls } from "./calls/calls.ts";
import { Logging } from "./calls/logging.ts";
import type { AnyTools, ToolTypes } from "./calls/tool-types.ts";
import type { Transport } from "./channel/channel.ts";
import { WireTransport } from "./channel/wire-transport.ts";
import { McpClient } from "./client.ts";
import type { Connection } from "./connection/connection.ts";
import type { AuthEvents } from "./http/auth.ts";
import { sendByFetch } from "./http/send-by-fetch.ts";
import { HttpTransport } from "./http/transport.ts";
import { checkCommand, type ClientSettings, guarded, resolveOptions } from "./settings/checks.ts";
import type { CommandTarget, ConnectOptions } from "./settings/options.ts";

/** What a client can connect to: the URL of a server, a command that starts one, or a server of the same process. */
export type Target = string | URL | CommandTarget | WireSource;

const recording = later(
  () => import("./recording.ts"),
  ({ recorder }) => recorder,
);

/**
 * Connects to a server, and finds out which revision of the protocol it speaks.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * await using client = await connect(server);
 * const { content } = await client.callTool("hello");
 * ```
 */
export async function connect<Tools extends ToolTypes<Tools> = AnyTools>(
  target: Target,
  options: ConnectOptions = {},
): Promise<McpClient<Tools>> {
  const settings = resolveOptions(options);
  let calls: Calls | undefined;
  let connection: Connection | undefined;
  const transport = transportOf(target, options, settings, {
    onCredentials: () => calls?.credentialsChanged(),
    onAuthorizing: (isWaiting) => connection?.authorizing(isWaiting),
  });
  const { limits, observe = () => {} } = settings;
  const answers = await HandlerAnswers.create({ ...options, server: transport.address, limits, observe });
  const joined = joinCalls(transport, answers, {
    ...settings,
    remembered: options.remembered,
    tap: options.record && (await recording.get())(guarded(options.record), limits),
  });
  ({ connection, calls } = joined);
  const logging = new Logging(calls, options.onLog);
  const client = new McpClient<Tools>(connection, calls, logging, settings);
  await connection.open(options.signal);
  if (settings.logLevel) await logging.begin(settings.logLevel);
  return client;
}

/** The transport to a target. Over HTTP, it tells `events` of credentials. */
function transportOf(
  target: Target,
  options: ConnectOptions,
  settings: ClientSettings,
  events: AuthEvents,
): Transport {
  const { limits, backoff, observe = () => {} } = settings;
  if (typeof target === "string" || target instanceof URL) {
    const { headers, auth, fetch } = options;
    const send =
      fetch === undefined && platform.createSend
        ? platform.createSend()
        : sendByFetch(fetch ?? globalThis.fetch);
    return new HttpTransport(toHttpUrl(target), { send, headers, auth, limits, backoff, ...events });
  }
  if (typeof target === "object" && target !== null) {
    if ("openWire" in target && typeof target.openWire === "function")
      return new WireTransport(target, limits);
    if ("command" in target) {
      checkCommand(target);
      return platform.commandTransport(target, limits, observe);
    }
  }
  throw invalidTarget("must be a URL, { command, args }, an McpServer, or an object with openWire()");
}

function toHttpUrl(target: string | URL): URL {
  const url = URL.canParse(String(target)) ? new URL(target) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw invalidTarget(
    `is ${JSON.stringify(String(target))}, which is not an http(s) URL: to start a command, pass { command: "node", args: ["server.js"] }`,
  );
}

function invalidTarget(problem: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", { subject: "connect", field: "target" }, problem);
}
