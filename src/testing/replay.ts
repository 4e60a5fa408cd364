// Replays the recording of a client: a server that answers as the recorded one did.
import { withoutSecrets } from "../client/redaction/messages.ts";
import { redacted } from "../client/redaction/redactor.ts";
import { errorCodes } from "../base/errors.ts";
import { metaKeys } from "../protocol/meta.ts";
import type { Wire, WireSource } from "../base/wire/wire.ts";
import {
  isObject,
  type JsonObject,
  readMessage,
  type RequestId,
  type RpcMessage,
  type RpcRequest,
} from "../base/wire/message.ts";

/** A request of the recording, with everything that the server sent because of it. */
interface Exchange {
  readonly method: string;
  /** The parameters that a request must repeat, except where they are redacted. */
  readonly params: string;
  readonly isStream: boolean;
  readonly replies: Reply[];
  isAnswered: boolean;
  isCancelled: boolean;
}

/** A recorded message of the server, and the request whose id it repeats. */
interface Reply {
  readonly message: RpcMessage;
  readonly owner: Exchange | undefined;
}

/**
 * Returns a server that answers as the recorded one did. Requests are matched by method and parameters, in order, whatever their
 * `_meta`; what the server sent before a response is sent before it again. A request that is not in the recording fails, and the error
 * shows the nearest one. Secrets are missing in recordings: requests match without them, and results hold `[redacted]`.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { connect } from "halyard/client";
 * import { replay } from "halyard/testing";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * server.tool("hello", {}, () => "Hello");
 * const lines: string[] = [];
 * const recorded = await connect(server, { record: (line) => lines.push(line) });
 * await recorded.callTool("hello");
 * await recorded.close();
 *
 * const replayed = await connect(replay(lines));
 * console.log(await replayed.callTool("hello"));
 * await replayed.close();
 * ```
 */
export function replay(lines: Iterable<string>): WireSource {
  if (typeof lines === "string" || !(Symbol.iterator in Object(lines))) throw notLines();
  const exchanges = readRecording(lines);
  return { openWire: () => new Player(exchanges), reopens: false };
}

function readRecording(lines: Iterable<string>): Exchange[] {
  const byId = new Map<unknown, Exchange>();
  const exchanges: Exchange[] = [];
  const take = (direction: unknown, message: RpcMessage): void => {
    const isRequest = "method" in message && "id" in message;
    if (direction === "sent" && isRequest) {
      const exchange = toExchange(message);
      byId.set(message.id, exchange);
      exchanges.push(exchange);
      return;
    }
    const owner = byId.get(requestIdOf(message));
    if (direction === "sent") {
      if (owner && "method" in message) owner.isCancelled = true;
      return;
    }
    // A message that belongs to no call, or to a stream that stays open, was caused by the request that was sent last.
    const cause = owner && !owner.isStream ? owner : exchanges.at(-1);
    cause?.replies.push({ message, owner });
    if (owner && !("method" in message)) owner.isAnswered = true;
  };
  let number = 0;
  for (const line of lines) {
    number++;
    if (typeof line !== "string") throw notLines();
    if (line.trim() === "") continue;
    const { direction, message } = readLine(line, number);
    for (const one of [message].flat()) {
      const read = readMessage(one);
      if (read.ok) take(direction, read.message);
    }
  }
  return exchanges;
}

function notLines(): TypeError {
  return new TypeError('replay takes lines: replay(readFileSync(path, "utf8").split("\\n"))');
}

function readLine(line: string, number: number): JsonObject {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value) && "direction" in value && "message" in value) return value;
  } catch {}
  throw new SyntaxError(`Line ${number} is not of a recording: ${line.slice(0, 100)}`);
}

function toExchange({ method, params }: RpcRequest): Exchange {
  return {
    method,
    params: comparable(method, params),
    isStream: method === "subscriptions/listen",
    replies: [],
    isAnswered: false,
    isCancelled: false,
  };
}

/** Answers one client from a recording. */
class Player implements Wire {
  readonly #exchanges: readonly Exchange[];
  readonly #played = new Set<Exchange>();
  /** The ids of the recorded requests that the client has sent so far. */
  readonly #ids = new Map<Exchange, RequestId>();
  /** Called when the client answers the request of that id. */
  readonly #asked = new Map<unknown, () => void>();
  #isClosed = false;
  onMessage: (text: string) => void = () => {};
  onClose: (reason: Error) => void = () => {};

  constructor(exchanges: readonly Exchange[]) {
    this.#exchanges = exchanges;
  }

  send(text: string): void {
    const read = readMessage(JSON.parse(text));
    if (!read.ok || read.kind === "notification") return;
    if (read.kind === "response") this.#asked.get(read.message.id)?.();
    else void this.#answer(read.message);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  async #answer({ id, method, params }: RpcRequest): Promise<void> {
    const wanted = comparable(method, params);
    const isSame = (exchange: Exchange): boolean =>
      exchange.method === method && isLike(exchange.params, wanted);
    const left = this.#exchanges.filter((exchange) => isSame(exchange) && !this.#played.has(exchange));
    // A lost request was sent again: only the one with a response counts.
    const exchange = left.find(({ isAnswered, isStream }) => isAnswered || isStream) ?? left[0];
    if (!exchange) return this.#send({ jsonrpc: "2.0", id, error: this.#unknown(method, wanted) });
    this.#played.add(exchange);
    this.#ids.set(exchange, id);
    for (const { message, owner } of exchange.replies) {
      const liveId = owner && this.#ids.get(owner);
      if (owner && liveId === undefined) continue;
      await this.#send(liveId === undefined ? message : withRequestId(message, liveId));
      if ("method" in message && "id" in message) {
        await new Promise<void>((resolve) => void this.#asked.set(message.id, resolve));
      }
    }
    if (exchange.isAnswered || exchange.isStream || exchange.isCancelled) return;
    const message = `The recording has no response to ${method}: the connection was lost`;
    await this.#send({ jsonrpc: "2.0", id, error: { code: errorCodes.methodNotFound, message } });
  }

  /** Deferred, so that no message arrives inside the client's `send`. */
  async #send(message: object): Promise<void> {
    await Promise.resolve();
    if (!this.#isClosed) this.onMessage(JSON.stringify(message));
  }

  #unknown(method: string, wanted: string): { code: number; message: string } {
    const same = this.#exchanges.filter((exchange) => exchange.method === method);
    const closest = same.toSorted(
      (one, other) => likeness(other.params, wanted) - likeness(one.params, wanted),
    )[0];
    const methods = [...new Set(this.#exchanges.map((exchange) => exchange.method))].join(", ");
    const instead =
      closest === undefined
        ? `it has ${methods || "no requests"}`
        : isLike(closest.params, wanted)
          ? `it was sent only ${same.filter(({ params }) => isLike(params, wanted)).length} times`
          : `the nearest is ${method} ${closest.params}`;
    const code = closest ? errorCodes.invalidParams : errorCodes.methodNotFound;
    return { code, message: `The recording has no such request: ${method} ${wanted}; ${instead}` };
  }
}

/** The id of the recorded request that a message belongs to: by its response, progress or subscription. */
function requestIdOf(message: RpcMessage): unknown {
  if (!("method" in message)) return message.id;
  const { params } = message;
  const meta = params?.["_meta"];
  if (message.method === "notifications/progress") return params?.["progressToken"];
  if (message.method === "notifications/cancelled") return params?.["requestId"];
  return isObject(meta) ? meta[metaKeys.subscriptionId] : undefined;
}

/** The message, with the id of its request replaced everywhere. */
function withRequestId(message: RpcMessage, id: RequestId): object {
  const inMeta = (body: JsonObject | undefined): JsonObject => {
    const meta = body?.["_meta"];
    if (!isObject(meta) || meta[metaKeys.subscriptionId] === undefined) return { ...body };
    return { ...body, _meta: { ...meta, [metaKeys.subscriptionId]: id } };
  };
  if ("result" in message) return { ...message, id, result: inMeta(message.result) };
  if (!("method" in message)) return { ...message, id };
  const params = inMeta(message.params);
  if (message.method === "notifications/progress")
    return { ...message, params: { ...params, progressToken: id } };
  if (message.method === "notifications/cancelled")
    return { ...message, params: { ...params, requestId: id } };
  return { ...message, params };
}

/** The parameters that every client fills in for itself. */
const own: { readonly [method: string]: readonly string[] } = { initialize: ["clientInfo", "capabilities"] };

/**
 * The parameters as a text that is equal for equal parameters, without secrets and without values that differ between clients.
 */
function comparable(method: string, params: JsonObject | undefined): string {
  const ignored = new Set(["_meta", ...(own[method] ?? [])]);
  const kept = Object.entries(params ?? {}).filter(([key]) => !ignored.has(key));
  return JSON.stringify(inOrder(withoutSecrets(Object.fromEntries(kept))));
}

/** Whether a text equals a recorded one, in which `[redacted]` stands for any text. */
function isLike(recorded: string, given: string): boolean {
  const parts = recorded.split(redacted);
  const [first = "", last = ""] = [parts.shift(), parts.pop()];
  if (parts.length === 0 && !recorded.includes(redacted)) return recorded === given;
  if (!given.startsWith(first) || !given.endsWith(last)) return false;
  const end = given.length - last.length;
  let at = first.length;
  for (const part of parts) {
    at = given.indexOf(part, at);
    if (at < 0) return false;
    at += part.length;
  }
  return at <= end;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}

/** How many characters two texts have in common at their start. */
function likeness(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
