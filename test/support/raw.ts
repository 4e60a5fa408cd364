// Talking to a server with no transport between: exact texts in, exact answers out.
import type { JsonObject, RequestId, Servable } from "halyard";
import { Connection } from "halyard/transport";
import type { Received, TestClient } from "halyard/testing";
import { legacyDates, metaKeys, modernDates, newestLegacy, newestModern } from "./revisions.ts";
import { Conversation } from "./schemas/witness.ts";

export { legacyDates, metaKeys, modernDates, newestLegacy, newestModern };

/** The `_meta` that makes a request a modern one, with changes. */
export function modernMeta(changes: JsonObject = {}): Record<string, unknown> {
  return { [metaKeys.protocolVersion]: newestModern, [metaKeys.clientCapabilities]: {}, ...changes };
}

/** A modern request, whatever the connection has agreed on. */
export function modernRequest(
  id: RequestId,
  method: string,
  params: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: modernMeta(meta) } };
}

export function initializeRequest(
  id: RequestId,
  protocolVersion: unknown,
  more: JsonObject = {},
): JsonObject {
  const params = {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "raw", version: "1.0.0" },
    ...more,
  };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}

/** An answer as it came off the wire: nothing about it is taken for granted. */
export interface Answer {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** One connection to a server, spoken to by `handleRaw`. */
export class RawPeer {
  readonly connection: Connection;
  readonly revision: string;
  readonly #server: Servable;
  readonly #conversation: Conversation;

  constructor(server: Servable, revision: string, connection = new Connection({ transport: "raw" })) {
    this.#server = server;
    this.revision = revision;
    this.connection = connection;
    this.#conversation = new Conversation(revision);
  }

  /** The text of the answer to a text. */
  async exact(text: string): Promise<string | undefined> {
    this.#conversation.said(text);
    const answer = await this.#server.handleRaw(text, { connection: this.connection });
    if (answer !== undefined) this.#conversation.heard(answer);
    return answer;
  }

  /** The answer to a text; a batch of them comes back as it is. */
  async sayText<T = Answer>(text: string): Promise<T | undefined> {
    const answer = await this.exact(text);
    return answer === undefined ? undefined : (JSON.parse(answer) as T);
  }

  say<T = Answer>(message: unknown): Promise<T | undefined> {
    return this.sayText<T>(JSON.stringify(message));
  }

  /** Sends a request of this peer's revision. */
  async request(method: string, params: JsonObject = {}, id: unknown = 1): Promise<Answer> {
    const isModern = modernDates.includes(this.revision);
    const _meta = isModern ? modernMeta(params["_meta"] as JsonObject | undefined) : params["_meta"];
    return (await this.say({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })) ?? {};
  }
}

/** A peer that has done what its revision does first. */
export async function rawPeer(server: Servable, revision: string): Promise<RawPeer> {
  const peer = new RawPeer(server, revision);
  if (legacyDates.includes(revision)) {
    await peer.say(initializeRequest(0, revision));
    await peer.say({ jsonrpc: "2.0", method: "notifications/initialized" });
  }
  return peer;
}

let probes = 0;

/** Sends texts and resolves with everything that came back, once the server has had every chance to answer. */
export async function answersTo(client: TestClient, ...texts: readonly string[]): Promise<Answer[]> {
  const before = client.received.length;
  for (const text of texts) client.sendText(text);
  const id = `probe-${++probes}`;
  await client.request(client.era === "modern" ? "server/discover" : "ping", {}, { id });
  // An answer that takes some more turns than the probe's must not be missed.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return client.received.slice(before).filter((message) => !isAnswerTo(id, message)) as Answer[];
}

function isAnswerTo(id: RequestId, message: Received): boolean {
  return "id" in message && message.id === id;
}

/** How a revision writes an id that could not be read: null at first, left out from 2025-11-25 on. */
export function unreadableId(revision: string): { id?: null } {
  return revision < "2025-11-25" ? { id: null } : {};
}
