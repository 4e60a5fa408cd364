// Connects a test client and a server in memory; they exchange text.
import { HandlerAnswers } from "../client/answering/answers.ts";
import type { QuestionAnswers } from "../client/answering/question.ts";
import type { AnyTools, ToolTypes } from "../client/calls/tool-types.ts";
import { awaitedFirst } from "../client/other-names.ts";
import { type ConnectOptions as ClientOptions, knownConnectOptions } from "../client/settings/options.ts";
import { ConfigurationError } from "../base/errors.ts";
import { flag, func, type Known, mismatch, oneOf, plainObject } from "../base/kinds.ts";
import { checkOptions } from "../base/options.ts";
import { memoryWire } from "../server/memory-wire.ts";
import { revisions } from "../protocol/revisions/index.ts";
import { openedBy, portOf, type Servable, type ServerPort } from "../server/calls/port.ts";
import type { JsonObject } from "../base/wire/message.ts";
import { noLimits, TestClient, type TestClientOptions } from "./client.ts";

/** The options of a test client in memory. Its handlers are those of `connect` of `halyard/client`. */
export interface ConnectOptions
  extends TestClientOptions, Pick<ClientOptions, "onElicit" | "onSample" | "roots"> {
  /** Whether `connect` performs the handshake; with `false`, the test does. @default {true} */
  readonly handshake?: boolean | undefined;
}

const ofClient = knownConnectOptions;
const knownOptions: Known<ConnectOptions> = {
  revision: oneOf(...revisions.map(({ date }) => date)),
  capabilities: plainObject,
  answer: func,
  onElicit: ofClient.onElicit,
  onSample: ofClient.onSample,
  roots: ofClient.roots,
  onLog: ofClient.onLog,
  logLevel: ofClient.logLevel,
  tasks: ofClient.tasks,
  observe: ofClient.observe,
  handshake: flag,
};

/**
 * Connects a test client to `server` in memory.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect, protocolRevisions } from "halyard/testing";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * for (const { date } of protocolRevisions) {
 *   const client = await connect(server, { revision: date });
 *   console.log(date, await client.callTool("hello"));
 *   await client.close();
 * }
 * ```
 */
export function connect<Tools extends ToolTypes<Tools> = AnyTools>(
  server: Servable,
  options: ConnectOptions = {},
): Promise<TestClient<Tools>> {
  return awaitedFirst(open<Tools>(server, options), "connect", TestClient);
}

async function open<Tools extends ToolTypes<Tools>>(
  server: Servable,
  options: ConnectOptions,
): Promise<TestClient<Tools>> {
  checkOptions({ subject: "connect" }, options, knownOptions);
  if (isElsewhere(server)) {
    const problem = `${mismatch("an McpServer of halyard", server)}: ${elsewhere}`;
    throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field: "server" }, problem);
  }
  const port = portOf(server, "connect");
  const failures = new Map<string, unknown>();
  const handlers = await handlersOf(options);
  const revision = options.revision ?? port.revisions.newest?.date;
  const wire = memoryWire(port, (errorId, error) => void failures.set(errorId, error));
  const introduction = introductionOf(server, port, revision);
  const tested = { failures, introduction, handlers };
  const client = new TestClient<Tools>(wire, { ...options, ...(revision && { revision }) }, tested);
  if (options.handshake !== false) await client.open();
  return client;
}

const elsewhere = "to reach a server elsewhere, use connect of halyard/client";

/** Whether it is a target for `connect` of `halyard/client`. */
function isElsewhere(target: unknown): boolean {
  return typeof target === "string" || target instanceof URL || "command" in Object(target);
}

/** The result that `server/discover` would have, so that connecting sends no request that a test would have to count. */
function introductionOf({ info }: Servable, port: ServerPort, date: string | undefined): JsonObject {
  const revision = port.revisions.find(date);
  if (revision === undefined) return {};
  const { features, settings } = openedBy(port, "connect").core;
  const capabilities = features.capabilities(revision, true);
  return { serverInfo: info, capabilities, instructions: settings.instructions };
}

/** The answers with the handlers; undefined without handlers. */
async function handlersOf(options: ConnectOptions): Promise<QuestionAnswers | undefined> {
  const given = (["onElicit", "onSample", "roots"] as const).filter((name) => options[name] !== undefined);
  if (given.length === 0) return undefined;
  if (options.answer) {
    const problem = `answers every question, so that ${given[0]} is never called: pass only one of them`;
    throw new ConfigurationError("INVALID_OPTION", { subject: "connect", field: "answer" }, problem);
  }
  const handlers: Pick<ConnectOptions, (typeof given)[number]> = Object.fromEntries(
    given.map((name) => [name, options[name]]),
  );
  const { observe = () => {} } = options;
  return HandlerAnswers.create({ ...handlers, server: "memory", limits: noLimits, observe });
}

/**
 * The date and era of every protocol revision, newest first.
 *
 * @example
 * ```ts
 * import { protocolRevisions } from "halyard/testing";
 *
 * for (const { date, era } of protocolRevisions) console.log(date, era);
 * ```
 */
export const protocolRevisions: readonly { readonly date: string; readonly era: "modern" | "legacy" }[] =
  revisions.map(({ date, era }) => ({ date, era }));
