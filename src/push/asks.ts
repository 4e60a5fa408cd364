// Questions to clients that wait for their answer, each found by the session that was asked and the id it was given.
import { askFailed, HalyardError } from "../errors.ts";
import type { Principal } from "../protocol/model.ts";
import { type Grant, isGranted } from "../protocol/scopes.ts";
import { encodeNotification, isObject, type JsonObject, type RpcResponse } from "../wire/message.ts";
import type { Stream } from "./listener.ts";

/** Who is asked, and on which stream. */
export interface AskTarget {
  /** The answer has to come in this session. */
  readonly to: {
    readonly transport: string;
    readonly session: string | undefined;
    readonly principal: Principal | undefined;
  };
  /** The answer is awaited as long as somebody can be reached there. */
  readonly stream: Stream;
}

/** A request to a client. */
export interface Ask extends AskTarget {
  /** The task that it is asked for. */
  readonly taskId?: string | undefined;
  /** What whoever answers needs, as whoever called did. */
  readonly scopes?: readonly string[] | undefined;
  readonly method: string;
  readonly params?: object | undefined;
  readonly timeoutMs: number;
  /** Gives up the question with the call that it was asked for; its reason is told to the client. */
  readonly signal?: AbortSignal | undefined;
}

/** Is told that a question goes out; what it returns is told that it has ended, and why, if that is not with an answer. */
export type AskWatch = (ask: Ask) => (problem?: string) => void;

/** How many times its timeout a question may take, however much progress its client reports. */
const maxTimeouts = 10;

/** The cause of a failure that another stream to the same client could mend. */
export const streamLost: unique symbol = Symbol("stream lost");

const lost = "The client cannot be reached any more";

/** All that those who watch hear of a client's error: its words may be as private as an answer. */
const noResult = "The client gave no result";

interface Pending {
  readonly scopes: readonly string[] | undefined;
  /** Starts the timeout again: the client is at it. */
  readonly keepWaiting: () => void;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (problem: string, error: HalyardError) => void;
}

export class Asks {
  readonly #pending = new Map<string, Pending>();
  readonly #watch: AskWatch | undefined;

  constructor(watch?: AskWatch) {
    this.#watch = watch;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Asks and waits. Rejects when the client answers with an error, does not answer, or cannot be reached any more. */
  ask(ask: Ask): Promise<JsonObject> {
    const id = crypto.randomUUID();
    const key = `${ask.to.session} ${id}`;
    if (ask.signal?.aborted) return Promise.reject(askFailed(ask.method, String(ask.signal.reason)));
    const params = { ...ask.params, _meta: { ...metaOf(ask.params), progressToken: id } };
    // Before anything waits for it: what cannot be written as JSON throws here.
    const text = JSON.stringify({ jsonrpc: "2.0", id, method: ask.method, params });
    const ended = this.#watch?.(ask);
    return new Promise<JsonObject>((resolve, reject) => {
      const fail = (problem: string, error = askFailed(ask.method, problem)): void => {
        release();
        ended?.(problem);
        reject(error);
      };
      const giveUp = (problem: string): void => {
        // Of a question that belongs to a task, the notification does, too.
        const about = { requestId: id, reason: problem, _meta: metaOf(ask.params) };
        ask.stream.write(encodeNotification("notifications/cancelled", about));
        fail(problem);
      };
      const onAbort = (): void => giveUp(String(ask.signal?.reason));
      const giveUpAt = performance.now() + ask.timeoutMs * maxTimeouts;
      const wait = (): ReturnType<typeof setTimeout> => {
        const leftMs = Math.min(ask.timeoutMs, giveUpAt - performance.now());
        return setTimeout(() => giveUp(`No answer within ${Math.round(ask.timeoutMs)} ms`), leftMs);
      };
      let timer = wait();
      // Bound to its stream before it is written: a stream that breaks meanwhile fails it at once.
      const stopLosing = ask.stream.onLost(() => fail(lost, askFailed(ask.method, lost, streamLost)));
      const release = (): void => {
        this.#pending.delete(key);
        clearTimeout(timer);
        stopLosing();
        ask.signal?.removeEventListener("abort", onAbort);
      };
      ask.signal?.addEventListener("abort", onAbort);
      this.#pending.set(key, {
        scopes: ask.scopes,
        keepWaiting: () => {
          clearTimeout(timer);
          timer = wait();
        },
        resolve: (result) => {
          release();
          ended?.();
          resolve(result);
        },
        reject: fail,
      });
      ask.stream.write(text);
    });
  }

  /** A client reports progress on what it was asked. */
  progressed(session: string | undefined, progressToken: unknown): void {
    if (typeof progressToken === "string")
      this.#pending.get(`${String(session)} ${progressToken}`)?.keepWaiting();
  }

  /** Takes an answer from a session. False when nothing was asked that it would answer, or that its sender may answer. */
  settle(session: string | undefined, response: RpcResponse, grant: Grant): boolean {
    const { id } = response;
    // The client may have put anything there; our ids are strings.
    const pending = typeof id === "string" ? this.#pending.get(`${String(session)} ${id}`) : undefined;
    if (pending === undefined || !isGranted(pending.scopes, grant)) return false;
    const { result, error } = response as { result?: unknown; error?: unknown };
    if (isObject(result)) pending.resolve(result);
    else pending.reject(noResult, new HalyardError("ASK_FAILED", problemOf(error), { cause: error }));
    return true;
  }
}

function metaOf(params: object | undefined): object | undefined {
  return (params as { readonly _meta?: object } | undefined)?._meta;
}

/** What the client says went wrong, if it says so in words. */
function problemOf(error: unknown): string {
  const message = isObject(error) ? error["message"] : undefined;
  return typeof message === "string" ? message : "The client answered with neither a result nor an error";
}
