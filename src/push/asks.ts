// Questions to clients that wait for their answer, each found by the session that was asked and the id it was given.
import { HalyardError } from "../errors.ts";
import { encodeNotification, isObject, type JsonObject, type RpcResponse } from "../wire/message.ts";
import type { Stream } from "./listener.ts";

/** A request to a client. */
export interface Ask {
  /** The session that is asked. */
  readonly session: string;
  /** Where the question goes; the answer is awaited as long as somebody can be reached there. */
  readonly stream: Stream;
  readonly method: string;
  readonly params?: object | undefined;
  readonly timeoutMs: number;
  /** Gives up the question with the call that it was asked for; its reason is told to the client. */
  readonly signal?: AbortSignal | undefined;
}

/** How many times its timeout a question may take, however much progress its client reports. */
const maxTimeouts = 10;

/** The cause of a failure that another stream to the same client could mend. */
export const streamLost: unique symbol = Symbol("stream lost");

interface Pending {
  /** Starts the timeout again: the client is at it. */
  readonly keepWaiting: () => void;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: HalyardError) => void;
}

export class Asks {
  readonly #pending = new Map<string, Pending>();

  get size(): number {
    return this.#pending.size;
  }

  /** Asks and waits. Rejects when the client answers with an error, does not answer, or cannot be reached any more. */
  ask(ask: Ask): Promise<JsonObject> {
    const id = crypto.randomUUID();
    const key = `${ask.session} ${id}`;
    if (ask.signal?.aborted) return Promise.reject(failure(ask, String(ask.signal.reason)));
    return new Promise<JsonObject>((resolve, reject) => {
      const giveUp = (problem: string): void => {
        // Of a question that belongs to a task, the notification does, too.
        const about = { requestId: id, reason: problem, _meta: metaOf(ask.params) };
        ask.stream.write(encodeNotification("notifications/cancelled", about));
        settle(() => reject(failure(ask, problem)));
      };
      const onAbort = (): void => giveUp(String(ask.signal?.reason));
      const giveUpAt = Date.now() + ask.timeoutMs * maxTimeouts;
      const wait = (): ReturnType<typeof setTimeout> => {
        const leftMs = Math.min(ask.timeoutMs, giveUpAt - Date.now());
        return setTimeout(() => giveUp(`No answer within ${ask.timeoutMs} ms`), leftMs);
      };
      let timer = wait();
      // Bound to its stream before it is written: a stream that breaks meanwhile fails it at once.
      const stopLosing = ask.stream.onLost(() => {
        settle(() => reject(failure(ask, "The client cannot be reached any more", streamLost)));
      });
      const settle = (finish: () => void): void => {
        this.#pending.delete(key);
        clearTimeout(timer);
        stopLosing();
        ask.signal?.removeEventListener("abort", onAbort);
        finish();
      };
      ask.signal?.addEventListener("abort", onAbort);
      this.#pending.set(key, {
        keepWaiting: () => {
          clearTimeout(timer);
          timer = wait();
        },
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      });
      const params = { ...ask.params, _meta: { ...metaOf(ask.params), progressToken: id } };
      ask.stream.write(JSON.stringify({ jsonrpc: "2.0", id, method: ask.method, params }));
    });
  }

  /** A client reports progress on what it was asked. */
  progressed(session: string | undefined, progressToken: unknown): void {
    if (typeof progressToken === "string")
      this.#pending.get(`${String(session)} ${progressToken}`)?.keepWaiting();
  }

  /** Takes an answer from a session. False when nothing was asked that it would answer. */
  settle(session: string | undefined, response: RpcResponse): boolean {
    const { id } = response;
    // The client may have put anything there; our ids are strings.
    const pending = typeof id === "string" ? this.#pending.get(`${String(session)} ${id}`) : undefined;
    if (pending === undefined) return false;
    const { result, error } = response as { result?: unknown; error?: unknown };
    if (isObject(result)) pending.resolve(result);
    else pending.reject(new HalyardError("ASK_FAILED", problemOf(error), { cause: error }));
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

function failure({ method }: Ask, problem: string, cause?: unknown): HalyardError {
  return new HalyardError("ASK_FAILED", `${method}: ${problem}`, { cause });
}
