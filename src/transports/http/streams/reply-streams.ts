// The POST streams of one session whose call runs on this node, or that were resumed here after another node had them.
import { type LogEntry, maxEntryBytes } from "../../../cluster/engine/engine.ts";
import {
  entryText,
  positionOf,
  sequenceOf,
  smallEntryText,
  startOfLog,
} from "../../../cluster/engine/log-entries.ts";
import { peerOf } from "../../../server/diagnostics/events.ts";
import { errorCodes } from "../../../base/errors.ts";
import type { Principal } from "../../../protocol/model.ts";
import { isGranted } from "../../../protocol/principal.ts";
import { readSessionEntry, type SessionEntry } from "../../../server/push/session-entries.ts";
import type { Connection } from "../../../server/context/connection.ts";
import type { RequestId } from "../../../base/wire/message.ts";
import type { HttpResponder } from "../edge/request.ts";
import { eventHeaders } from "../edge/replies.ts";
import { EventStream } from "./event-stream.ts";
import { Cursor, type StreamCursor } from "./cursor.ts";
import { missedOnPost } from "./missed.ts";
import type { SessionLog, StreamParts } from "./session-log.ts";

type ReplyStream = EventStream<Cursor>;

/** How long the node of a call may take to reply that it still runs. */
const runnerMs = 3000;

interface Reply {
  readonly stream: ReplyStream;
  /** The node that runs the call. */
  readonly runner: string;
  readonly ids: readonly RequestId[];
  /** The number of the entry with which this node got the stream. */
  readonly heldSince: number;
  /** Messages that were added to the log and have not come back, in their order: only of a call that runs here. */
  readonly unwritten: Set<Unwritten>;
  /** Messages that were written although the engine failed: if they come back nevertheless, they are not written again. */
  readonly written: Set<string>;
}

interface Unwritten {
  readonly text: string;
  readonly isLast: boolean;
  /** Whether it is larger than nodes share, so that its entry does not have it. */
  readonly isLarge: boolean;
}

export class ReplyStreams {
  readonly #parts: StreamParts;
  readonly #connection: Connection;
  readonly #log: SessionLog;
  /** The requests of streams that have not opened yet. */
  readonly #ids = new WeakMap<ReplyStream, readonly RequestId[]>();
  /** Called when a stream has ended. */
  readonly #endings = new WeakMap<ReplyStream, () => void>();
  /** By the number of the stream. */
  readonly #replies = new Map<number, Reply>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#connection = parts.connection;
    this.#log = parts.log;
  }

  get streams(): ReplyStream[] {
    return [...this.#replies.values()].map(({ stream }) => stream);
  }

  /** The streams that were resumed here. The streams of calls that run here are tended by their calls. */
  get resumed(): ReplyStream[] {
    const { node } = this.#log;
    return [...this.#replies.values()].filter(({ runner }) => runner !== node).map(({ stream }) => stream);
  }

  /** Whether the call of that stream runs on this node. */
  runs(number: number): boolean {
    return this.#replies.get(number)?.runner === this.#log.node;
  }

  /** The stream of the reply to a POST, which opens with its first event. */
  make(responder: HttpResponder, principal: Principal | undefined, ids: readonly RequestId[]): ReplyStream {
    const stream = new EventStream("post", responder, this.#parts, this.#parts);
    stream.readWith(principal);
    this.#ids.set(stream, ids);
    return stream;
  }

  /** Called when the stream enters another state. */
  changed(stream: ReplyStream): void {
    if (stream.state === "open") this.#opened(stream);
    const { start } = stream.log ?? {};
    if (stream.state === "ended" && start !== undefined) this.#end(start, stream);
  }

  /** Called when the stream has opened: from now on the log knows that this node runs its call. */
  #opened(stream: ReplyStream): void {
    const cursor = stream.log;
    const ids = this.#ids.get(stream);
    if (cursor === undefined || cursor.opening !== undefined || ids === undefined) return;
    cursor.opening = this.#enter(stream, cursor, ids);
    cursor.opening.catch(() => {
      cursor.isKept = false;
      stream.prime();
    });
  }

  async #enter(stream: ReplyStream, cursor: Cursor, ids: readonly RequestId[]): Promise<number> {
    const { node } = this.#log;
    const { scopes } = stream;
    // Other nodes may lack the definitions whose scopes restrict the readers of a reply.
    const isScoped = scopes !== undefined && this.#parts.server.usesScopes;
    const own = await this.#log.enter({ k: "post", n: node, ids, ...(isScoped && { scopes }) });
    this.#replies.set(own.sequence, replyOf(stream, node, ids, own.sequence));
    cursor.start = own.sequence;
    cursor.at = positionOf(own);
    this.#log.start(own);
    stream.prime();
    return own.sequence;
  }

  /**
   * Adds a message to the log, from which it is written. If the engine fails, a connected client still gets it. For a message
   * that is too large for other nodes, the log only has its place.
   */
  async keep(stream: ReplyStream, text: string, isLast: boolean): Promise<void> {
    stream.open();
    const number = await stream.log?.opening?.catch(() => undefined);
    const entry = sendEntry(number ?? 0, text, isLast);
    const isLarge = entry.m === undefined;
    const message = { text, isLast, isLarge };
    const reply = number === undefined ? undefined : this.#replies.get(number);
    if (number === undefined || reply === undefined) return this.#writeAlone(stream, message, undefined);
    if (isLarge && !isLast && stream.isElsewhere) smallEntryText({ ...entry, m: text }, "The question");
    reply.unwritten.add(message);
    try {
      await this.#log.append(entry);
      if (isLast) await this.#ended(stream);
    } catch {
      // The log may have the entry although the engine did not respond, and the client may have resumed the stream on another
      // node.
      await this.#log.read(number).then(
        (entries) => this.#log.entries(entries),
        () => {},
      );
      if (reply.unwritten.has(message)) this.#writeAlone(stream, message, reply);
    }
  }

  /** Writes a message without the log. */
  #writeAlone(stream: ReplyStream, message: Unwritten, reply: Reply | undefined): void {
    const { text, isLast } = message;
    if (reply?.unwritten.delete(message) && !message.isLarge) reply.written.add(text);
    stream.send(text, undefined);
    if (isLast) stream.end();
  }

  /** Entries were lost: messages of calls that run here and are missing in the log are written without it. */
  gap(kept: LogEntry | undefined): void {
    for (const { stream } of this.#replies.values()) stream.log?.rewind(kept);
    // After the entries that the log still has.
    queueMicrotask(() => {
      for (const reply of this.#replies.values()) {
        for (const message of reply.unwritten) this.#writeAlone(reply.stream, message, reply);
      }
    });
  }

  /** Resolves when the last message has been written here, or on the node that now has the stream. */
  #ended(stream: ReplyStream): Promise<void> {
    if (stream.state === "ended") return Promise.resolve();
    return new Promise((resolve) => this.#endings.set(stream, resolve));
  }

  /** Resumes a stream. Resolves with false if the missed messages are no longer kept, or this reader may not get them. */
  resume(
    cursor: Extract<StreamCursor, { kind: "post" }>,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): Promise<boolean> {
    return this.#log.inTurn(async () => {
      const { start } = cursor;
      const before = missedOnPost(await this.#log.read(start), cursor);
      if (before === undefined || !isGranted(before.post.scopes, principal)) return false;
      if (before.hasEnded) {
        // A client that already has the last message would reconnect for ever.
        if (before.messages.length === 0) return false;
        const ended = this.#reopen(cursor, responder, principal);
        for (const { text, position } of before.messages) this.#send(ended, text, position);
        ended.end();
        return true;
      }
      const own = await this.#log.enter({ k: "take", s: start, n: this.#log.node });
      const entries = await this.#log.read(start).catch((error: unknown) => {
        this.#log.leave();
        throw error;
      });
      const { n: runner, ids } = before.post;
      const later = entries.filter(({ sequence }) => sequence > own.sequence);
      const earlier = entries.slice(0, entries.length - later.length);
      this.#log.pass(earlier);
      const stream = this.#connect(cursor, responder, principal, { runner, ids, heldSince: own.sequence });
      // A client that has meanwhile resumed the stream on another node gets everything there.
      const isMoved = later.some(({ text }) => this.#isTaken(readSessionEntry(text), start));
      const missed = isMoved ? undefined : missedOnPost(earlier, cursor);
      for (const { text, position } of missed?.messages ?? []) this.#send(stream, text, position);
      if (!isMoved && missed?.hasEnded !== false) this.#end(start, stream);
      this.#log.pass(later);
      this.#log.start(entries.at(-1) ?? own);
      if (runner !== this.#log.node) {
        this.#parts.server.observe?.({ type: "handover", from: runner, ...peerOf(this.#connection) });
      }
      this.#parts.soon(this.#check(start));
      return true;
    });
  }

  /** Leaves a stream that its client has resumed on another node. */
  moved(entry: SessionEntry, at: LogEntry): void {
    if (entry.k !== "take") return;
    const reply = this.#replies.get(entry.s);
    if (reply === undefined || at.sequence < reply.heldSince || !this.#isTaken(entry, entry.s)) return;
    if (this.runs(entry.s)) reply.stream.leave();
    else this.#end(entry.s, reply.stream);
  }

  /** Whether the entry says that the client of that stream has resumed it on another node. */
  #isTaken(entry: SessionEntry | undefined, number: number): boolean {
    return entry?.k === "take" && entry.s === number && entry.n !== this.#log.node;
  }

  take(entry: SessionEntry, at: LogEntry): void {
    if (entry.k !== "send") return;
    const reply = this.#replies.get(entry.s);
    if (reply === undefined || at.sequence <= sequenceOf(reply.stream.log?.at ?? startOfLog)) return;
    if (entry.m === undefined) this.#takeLarge(reply, entry.end === true, at);
    else this.#takeSmall(reply, entry.m, at);
    if (entry.end) this.#end(entry.s, reply.stream);
  }

  #takeSmall({ stream, unwritten, written }: Reply, text: string, at: LogEntry): void {
    for (const message of unwritten) if (message.text === text) unwritten.delete(message);
    const isWritten = written.delete(text);
    if (!stream.isElsewhere && !isWritten) this.#send(stream, text, positionOf(at));
  }

  /** Writes a message that the log does not have, without an id; where the call does not run, an error instead of its response. */
  #takeLarge({ stream, unwritten, runner, ids }: Reply, isLast: boolean, at: LogEntry): void {
    const large = [...unwritten].find(({ isLarge }) => isLarge);
    if (large !== undefined) unwritten.delete(large);
    if (stream.isElsewhere) return;
    if (large !== undefined) stream.send(large.text, undefined);
    else if (isLast && runner !== this.#log.node) {
      this.#send(stream, errorReply(ids, tooLarge), positionOf(at));
    }
  }

  /** A node has left: calls that it ran have no result. */
  nodeLeft(node: string): void {
    for (const [number, { runner }] of this.#replies)
      if (runner === node) this.#parts.soon(this.#check(number));
  }

  /** Checks for every stream that was resumed here whether its call still runs. */
  checkAll(): void {
    for (const number of this.#replies.keys()) this.#parts.soon(this.#check(number));
  }

  /** Ends every stream, because the session ends here. */
  close(): void {
    for (const [number, { stream }] of this.#replies) this.#end(number, stream);
  }

  /** The stream of a resumed reply: that of the call if it runs here, else a new one. */
  #connect(
    cursor: Extract<StreamCursor, { kind: "post" }>,
    responder: HttpResponder,
    principal: Principal | undefined,
    held: Pick<Reply, "runner" | "ids" | "heldSince">,
  ): ReplyStream {
    const { start, at } = cursor;
    const running = this.#replies.get(start);
    if (running !== undefined && this.runs(start)) {
      const { stream } = running;
      this.#replies.set(start, { ...running, ...held });
      if (stream.log !== undefined) stream.log.at = at;
      stream.readWith(principal);
      stream.resume(responder.stream(eventHeaders));
      stream.prime();
      // The stream of the call has entered the log before.
      this.#log.leave();
      return stream;
    }
    if (running !== undefined) this.#end(start, running.stream);
    const stream = this.#reopen(cursor, responder, principal);
    this.#replies.set(start, replyOf(stream, held.runner, held.ids, held.heldSince));
    return stream;
  }

  /** A stream that another connection began. */
  #reopen(
    { start, at }: Extract<StreamCursor, { kind: "post" }>,
    responder: HttpResponder,
    principal: Principal | undefined,
  ): ReplyStream {
    const cursor = Object.assign(new Cursor("post", true), {
      start,
      at,
      opening: Promise.resolve(start),
    });
    const stream = new EventStream("post", responder, this.#parts, this.#parts, cursor);
    stream.readWith(principal);
    stream.open("resumed");
    return stream;
  }

  #send(stream: ReplyStream, text: string, position: string): void {
    const cursor = stream.log;
    if (cursor === undefined) return;
    cursor.at = position;
    stream.send(text, cursor.nextId());
  }

  #end(number: number, stream: ReplyStream): void {
    // A stream of the same number may have taken its place.
    if (this.#replies.get(number)?.stream === stream && this.#replies.delete(number)) this.#log.leave();
    stream.end();
    this.#endings.get(stream)?.();
  }

  /** Asks the node of the call whether it still runs. If not, an error is the last message of the stream. */
  async #check(number: number): Promise<void> {
    const { cluster } = this.#parts.server;
    const reply = this.#replies.get(number);
    if (reply === undefined || this.runs(number)) return;
    const { session } = this.#connection;
    const body = { session: session ?? "", stream: number };
    const isHeard = cluster.hears(reply.runner);
    const answer = isHeard ? await cluster.bus.request(reply.runner, "running", body, runnerMs) : undefined;
    if (answer?.["isRunning"] === true) return;
    await this.#log.append(sendEntry(number, errorReply(reply.ids, isGone), true));
  }
}

function replyOf(stream: ReplyStream, runner: string, ids: readonly RequestId[], heldSince: number): Reply {
  return { stream, runner, ids, heldSince, unwritten: new Set(), written: new Set() };
}

/** The entry of a message on a POST stream, without the message if that is larger than nodes share. */
function sendEntry(s: number, m: string, isLast: boolean): Extract<SessionEntry, { k: "send" }> {
  const place = { k: "send", s, ...(isLast && { end: true as const }) } as const;
  const entry = { ...place, m };
  return entryText(entry) === undefined ? place : entry;
}

const isGone =
  "The node that ran this call is gone, and its result is unknown: send the request again if that is safe";

const tooLarge = `The result is larger than the ${maxEntryBytes} bytes that nodes share, and its client has resumed on another node`;

/** The response to requests whose result this node cannot have. */
function errorReply(ids: readonly RequestId[], message: string): string {
  const responses = ids.map((id) => ({ jsonrpc: "2.0", id, error: { code: errorCodes.internal, message } }));
  return JSON.stringify(responses.length === 1 ? responses[0] : responses);
}
