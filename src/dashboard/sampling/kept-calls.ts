// The last calls and the last ones that failed, with their inputs and results, while a page is open. All of it is bounded.
import { copyOf } from "../../base/errors.ts";
import { sizeOf } from "../../base/wire/size.ts";
import { randomId } from "../../base/wire/crypto.ts";
import {
  type AroundCall,
  type CallEnd,
  describePeer,
  type KnownPeer,
  type TaskEvent,
  withoutSecrets,
} from "../../window/index.ts";
import type { CallDetails, CallRow, KeptText } from "../answers.ts";
import { Newest } from "./newest.ts";
import { cut, cutSubject } from "./texts.ts";

/** Calls that are kept. They are shown one by one. Past it, older ones are dropped. */
const maxCalls = 100;
/** Failed calls that are kept. They stay longer than others. Past it, older ones are dropped. */
const maxFailed = 100;
/** Calls of a second whose input and result are kept. Past it, a call is kept without. */
const maxPerSecond = 50;
/** Bytes of inputs and results that are read in a second. About so many. Past it, they are left out. */
const maxRead = 1_000_000;
/** Characters of an input or a result. Past it, only the beginning is kept. */
const maxText = 16_000;
/** Characters of all inputs and results. Past it, those of the oldest call are dropped. */
const maxTexts = 1_000_000;
const maxNameLength = 100;
const maxReason = 300;
const maxStack = 4_000;

/** A call in the form that nodes send to each other. */
export type EndedCall = Omit<CallRow, "node">;

/** The facts of one call on its node. */
export interface CallPart extends Omit<CallDetails, "nodes" | "call"> {
  readonly call: EndedCall;
}

type Texts = Pick<CallPart, "input" | "output" | "thrown">;

/** What is known of a call without its texts. Names and digests are made when a page asks. */
interface Kept {
  readonly id: string;
  readonly number: number;
  readonly method: string;
  readonly name: string | undefined;
  readonly revision: string;
  readonly peer: KnownPeer;
  readonly at: number;
  readonly errorCode: number | undefined;
  readonly errorId: string | undefined;
  readonly reason: string | undefined;
  readonly task: string | undefined;
  outcome: CallRow["outcome"];
  durationMs: number;
  texts: Texts | undefined;
}

type TaskEnd = Pick<TaskEvent, "status" | "durationMs">;

export class KeptCalls {
  readonly #prefix = randomId(6);
  readonly #last = new Newest<string, Kept>(maxCalls);
  readonly #failed = new Newest<string, Kept>(maxFailed);
  /** Tasks that ended before their call was kept. */
  readonly #ended = new Newest<string, TaskEnd>(maxCalls);
  /** The calls with texts, oldest first. */
  readonly #withTexts = new Set<Kept>();
  #characters = 0;
  #count = 0;
  #second = 0;
  #inSecond = 0;
  #read = 0;

  add(call: AroundCall, end: CallEnd, now: number): void {
    const number = ++this.#count;
    const kept = { id: `${this.#prefix}-${number}`, number, ...keptOf(call, end, now) };
    this.#last.set(kept.id, kept);
    if (kept.outcome === "error") this.#failed.set(kept.id, kept);
    if (this.#isWithin(now)) this.#keepTexts(kept, this.#textsOf(call, end));
    const ended = end.task === undefined ? undefined : this.#ended.get(end.task);
    if (ended) this.#endTask(kept, ended);
  }

  /** A task has ended: its call took as long as the task. */
  taskEnded({ taskId, status, durationMs }: TaskEvent): void {
    const call = [...this.#last.values()].find(({ task }) => task === taskId);
    if (call) this.#endTask(call, { status, durationMs });
    else this.#ended.set(taskId, { status, durationMs });
  }

  /** The last calls, newest first. */
  last(now: number, count: number): EndedCall[] {
    return [...this.#last.values()]
      .slice(-count)
      .toReversed()
      .map((call) => rowOf(call, now));
  }

  /** All calls that are kept, newest first. */
  rows(now: number): EndedCall[] {
    const all = new Set([...this.#last.values(), ...this.#failed.values()]);
    return [...all].toSorted((one, other) => other.number - one.number).map((call) => rowOf(call, now));
  }

  find(id: string, now: number): CallPart | undefined {
    const call = this.#last.get(id) ?? this.#failed.get(id);
    if (call === undefined) return undefined;
    const { texts, task } = call;
    return {
      call: rowOf(call, now),
      input: texts?.input,
      output: texts?.output,
      thrown: texts?.thrown,
      task,
    };
  }

  #isWithin(now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) this.#inSecond = this.#read = 0;
    this.#second = second;
    return ++this.#inSecond <= maxPerSecond;
  }

  #textsOf({ method, params, session }: AroundCall, { response, error, errorId }: CallEnd): Texts {
    const output = "error" in response ? response.error : response.result;
    return {
      input: this.#textOf({ method, params }, "params", session),
      output: this.#textOf({ output }, "output", session),
      thrown: errorId === undefined ? undefined : stackOf(error),
    };
  }

  /** The member of a message as text, without its secrets; undefined if it is too large, or so deep that it cannot be read. */
  #textOf(message: object, member: string, session: string | undefined): KeptText | undefined {
    try {
      return this.#readText(message, member, session);
    } catch {
      return undefined;
    }
  }

  #readText(message: object, member: string, session: string | undefined): KeptText | undefined {
    this.#read += sizeOf(message);
    if (this.#read > maxRead) return undefined;
    const safe = withoutSecrets(message, session) as Readonly<Record<string, unknown>>;
    const text = JSON.stringify(safe[member], null, 2) ?? "";
    return { text: text.length <= maxText ? text : copyOf(text.slice(0, maxText)), length: text.length };
  }

  #keepTexts(kept: Kept, texts: Texts): void {
    kept.texts = texts;
    this.#characters += charactersOf(texts);
    this.#withTexts.add(kept);
    for (const oldest of this.#withTexts) {
      if (this.#characters <= maxTexts && this.#isKept(oldest)) break;
      this.#characters -= charactersOf(oldest.texts);
      oldest.texts = undefined;
      this.#withTexts.delete(oldest);
    }
  }

  #isKept({ id }: Kept): boolean {
    return this.#last.get(id) !== undefined || this.#failed.get(id) !== undefined;
  }

  #endTask(call: Kept, { status, durationMs }: TaskEnd): void {
    call.outcome = status === "completed" ? "ok" : status === "cancelled" ? "cancelled" : "error";
    call.durationMs = durationMs ?? call.durationMs;
    if (call.outcome === "error") this.#failed.set(call.id, call);
  }
}

function keptOf(call: AroundCall, end: CallEnd, at: number): Omit<Kept, "id" | "number"> {
  const { method, name, revision, transport, session, principal, caller, client } = call;
  const { outcome, errorCode, errorId, durationMs, error, task } = end;
  const told = errorId !== undefined && error instanceof Error ? error.message : end.reason;
  const reason = outcome === "error" ? told : undefined;
  return {
    method: cut(method, maxNameLength),
    name: name && cut(name, 2 * maxNameLength),
    revision,
    peer: { transport, session, principal, caller, client: client && clientOf(client) },
    at,
    errorCode,
    errorId,
    reason: reason && cut(reason, 2 * maxReason),
    task,
    outcome: task === undefined ? outcome : "working",
    durationMs,
    texts: undefined,
  };
}

function clientOf({ name, version }: NonNullable<KnownPeer["client"]>): KnownPeer["client"] {
  return { name: cut(name, maxNameLength), version: cut(version, maxNameLength) };
}

function stackOf(error: unknown): string {
  return cutSubject(error instanceof Error ? (error.stack ?? error.message) : String(error), maxStack);
}

function charactersOf(texts: Texts | undefined): number {
  return (texts?.input?.text.length ?? 0) + (texts?.output?.text.length ?? 0);
}

function rowOf(call: Kept, now: number): EndedCall {
  const { id, method, name, revision, durationMs, outcome, errorCode, errorId, reason, at } = call;
  const { peer, client } = describePeer(call.peer);
  return {
    id,
    peer,
    method,
    name: name && cutSubject(name, maxNameLength),
    client,
    revision,
    durationMs,
    outcome,
    errorCode,
    errorId,
    reason: reason && cutSubject(reason, maxReason),
    agoMs: now - at,
  };
}
