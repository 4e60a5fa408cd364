// Connects a client: checks the options, chooses the transport for the target, and joins the parts of a client.
import { platform } from "#client-platform";
import { later } from "../base/async/later.ts";
import { ConfigurationError } from "../base/errors.ts";
import type { WireSource } from "../base/wire/wire.ts";
import { HandlerAnswers } from "./answering/answers.ts";
import { type CallSender, joinCalls } from "./calls/calls.ts";
import { Logging } from "./calls/logging.ts";
import type { AnyTools, ToolTypes } from "./calls/tool-types.ts";
import type { Transport } from "./channel/channel.ts";
import { McpClient } from "./client.ts";
import type { ServerConnection } from "./connection/connection.ts";
import { isFresh } from "./connection/verdicts.ts";
import type { AuthEvents } from "./http/auth.ts";
import { awaitedFirst } from "./other-names.ts";
import { redaction, Secrets } from "./redaction/secrets.ts";
import { resolveOptions } from "./settings/checks.ts";
import type { CommandTarget } from "./settings/command.ts";
import type { ClientSettings, ConnectOptions } from "./settings/options.ts";
import { variablesOf } from "./settings/shown.ts";
import { guarded, tellIgnored, tellThrown } from "./settings/events.ts";

/** What a client can connect to: the URL of a server, a command that starts one, or a server of the same process. */
export type Target = string | URL | CommandTarget | WireSource;

// The parts of a client besides its core, loaded by the first `connect` that needs them.
const httpTransport = later(
  () => import("./http/transport.ts"),
  ({ HttpTransport }) => HttpTransport,
);
const wireTransport = later(
  () => import("./channel/pipe-channel.ts"),
  ({ WireTransport }) => WireTransport,
);
const catalogue = later(
  () => import("./catalogue/catalogue.ts"),
  ({ ServerCatalogue }) => ServerCatalogue,
);
const wrongTarget = later(
  () => import("./settings/wrong-target.ts"),
  (module) => module.targetProblem,
);
const recorder = later(
  () => import("./recording.ts"),
  (module) => module.recorder,
);

/**
 * Connects to a server, and negotiates the protocol revision.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/client";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * const client = await connect(server);
 * const { content } = await client.callTool("hello");
 * await client.close();
 * ```
 */
export function connect<Tools extends ToolTypes<Tools> = AnyTools>(
  target: Target,
  options: ConnectOptions = {},
): Promise<McpClient<Tools>> {
  return awaitedFirst(open<Tools>(target, options), "connect", McpClient);
}

async function open<Tools extends ToolTypes<Tools>>(
  target: Target,
  options: ConnectOptions,
): Promise<McpClient<Tools>> {
  const settings = resolveOptions(options);
  let calls: CallSender | undefined;
  let connection: ServerConnection | undefined;
  const secrets = new Secrets();
  secrets.addAll(variablesOf(target));
  const observe = await discreet(settings.observe, secrets);
  const [transport, Catalogue, record] = await Promise.all([
    transportOf(target, options, { ...settings, observe }, secrets, {
      onCredentials: () => calls?.credentialsChanged(),
      onAuthorizing: (isWaiting, url) => connection?.authorizing(isWaiting, url),
    }),
    catalogue.get(),
    options.record && recorder.get(),
  ]);
  const { limits } = settings;
  const { remembered } = options;
  const answers = await HandlerAnswers.create({
    ...options,
    server: transport.address,
    limits,
    observe,
  });
  const joined = joinCalls(transport, answers, {
    ...settings,
    observe,
    remembered,
    tap: options.record && record?.(quiet(options.record, observe), limits, transport.secrets),
  });
  ({ connection, calls } = joined);
  for (const [method, handle] of Object.entries(options.onNotification ?? {}))
    connection.onNotification(method, ({ params = {} }) => handle(params));
  const logging = new Logging(calls, options.onLog);
  const client = new McpClient<Tools>({
    connection,
    calls,
    logging,
    catalogue: new Catalogue(
      calls,
      settings.cache,
      remembered && isFresh(remembered) ? remembered.tools : undefined,
    ),
    settings,
  });
  await connection.open(options.signal);
  if (settings.logLevel) await logging.begin(settings.logLevel);
  return client;
}

type Record = NonNullable<ConnectOptions["record"]>;

function quiet(record: Record, observe: ClientSettings["observe"]): Record {
  return guarded(record, (error) => tellThrown(observe, record, `record threw: ${String(error)}`));
}

/** Wraps an observer, so that its events are without the secrets that servers repeat. */
async function discreet(
  observe: ClientSettings["observe"],
  secrets: Secrets,
): Promise<ClientSettings["observe"]> {
  if (observe === undefined) return undefined;
  const redactorOf = await redaction.get();
  return (event) => observe(secrets.redactor(redactorOf).value(event));
}

/** The options that only apply to servers on the network. */
const ofHttp = ["auth", "headers", "fetch"] as const;

/**
 * The transport to a target. Over HTTP, it reports changes of credentials to `events`. Adds the secrets of the target to
 * `secrets`.
 */
async function transportOf(
  target: Target,
  options: ConnectOptions,
  { limits, backoff, observe }: ClientSettings,
  secrets: Secrets,
  events: AuthEvents,
): Promise<Transport> {
  if (typeof target === "string" || target instanceof URL) {
    const { headers, auth, fetch } = options;
    const HttpTransport = await httpTransport.get();
    const send = await platform.createSend?.(fetch);
    return HttpTransport.to(target, { send, fetch, headers, auth, secrets, limits, backoff, ...events });
  }
  for (const name of ofHttp)
    if (options[name] !== undefined)
      tellIgnored(observe, `connect: ${name} is for HTTP, which this target does not use: ignored`);
  if (typeof target === "object" && target !== null) {
    if ("openWire" in target && typeof target.openWire === "function")
      return new (await wireTransport.get())(target, limits);
    if ("command" in target) return platform.commandTransport(target, limits, secrets, observe ?? (() => {}));
  }
  const problem = (await wrongTarget.get())(target);
  throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field: "target" }, problem);
}
