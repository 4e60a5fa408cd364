// Questions that wait for a client's answer, by session and question id.
import { type Cluster, newIdOn, nodeOf } from "../../cluster/node/cluster.ts";
import type { PassOutcome } from "../../cluster/node/forwarding.ts";
import { askFailed, HalyardError } from "../../base/errors.ts";
import type { Principal } from "../../protocol/model.ts";
import { type Grant, isGranted } from "../../protocol/principal.ts";
import { encodeNotification, isObject, type JsonObject, type RpcResponse } from "../../base/wire/message.ts";
import type { Stream } from "./listener.ts";

/** The client to ask, and the stream to ask it on. */
export interface AskTarget {
  /** The session that the answer must come from. */
  readonly to: {
    readonly transport: string;
    readonly session: string | undefined;
    readonly principal: Principal | undefined;
    readonly caller?: string | undefined;
  };
  /** The question fails when the client can no longer be reached on this stream. */
  readonly stream: Stream;
}

/** A question to a client. */
export interface Ask extends AskTarget {
  /** The task that asks. */
  readonly taskId?: string | undefined;
  /** The scopes that the call required, and the sender of the answer must have. */
  readonly scopes?: readonly string[] | undefined;
  readonly method: string;
  readonly params?: object | undefined;
  readonly timeoutMs: number;
  /** Aborts the question when its call is cancelled; the client gets the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Called when a question is sent. The function it returns is called when the question ends, with the problem if it failed. */
export type AskWatch = (ask: Ask) => (problem?: string) => void;

/** The most that progress reports can extend a question, in multiples of its timeout. */
const maxTimeouts = 10;

/** The cause of a failure that a retry on another stream of the client may avoid. */
export const streamLost: unique symbol = Symbol("stream lost");

const lost = "The client can no longer be reached";

/** What `AskWatch` gets for an error of the client, whose message may be as private as an answer. */
const noResult = "The client gave no result";

interface Pending {
  readonly scopes: readonly string[] | undefined;
  /** Restarts the timeout, because the client reports progress. */
  readonly keepWaiting: () => void;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (problem: string, error: HalyardError) => void;
}

export class Asks {
  readonly #pending = new Map<string, Pending>();
  readonly #watch: AskWatch;
  readonly #cluster: Cluster;

  constructor(watch: AskWatch, cluster: Cluster) {
    this.#watch = watch;
    this.#cluster = cluster;
    cluster.forwarding.onPassed("answer", {
      expects: ({ session, id }) => (this.#find(String(session), id) ? "yes" : { isSettled: false }),
      take: ({ session, response, grant }) => {
        if (typeof session !== "string" || !isObject(response)) return undefined;
        return { isSettled: this.settle(session, response as unknown as RpcResponse, readGrant(grant)) };
      },
    });
    cluster.on("ask-progress", ({ session, token }) => {
      if (typeof session === "string") this.#find(session, token)?.keepWaiting();
    });
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Sends a question. Rejects if the client returns an error, does not answer in time, or can no longer be reached. */
  ask(ask: Ask): Promise<JsonObject> {
    const id = newIdOn(this.#cluster);
    const key = `${ask.to.session} ${id}`;
    if (ask.signal?.aborted) return Promise.reject(askFailed(ask.method, String(ask.signal.reason)));
    const params = { ...ask.params, _meta: { ...metaOf(ask.params), progressToken: id } };
    // Serialise first, because this throws for params that are not JSON.
    const text = JSON.stringify({ jsonrpc: "2.0", id, method: ask.method, params });
    const ended = this.#watch(ask);
    return new Promise<JsonObject>((resolve, reject) => {
      const fail = (problem: string, error = askFailed(ask.method, problem)): void => {
        if (!this.#pending.has(key)) return;
        release();
        ended?.(problem);
        reject(error);
      };
      const giveUp = (problem: string): void => {
        // For a question of a task, `_meta` ties the notification to the task.
        const about = { requestId: id, reason: problem, _meta: metaOf(ask.params) };
        // If it cannot be sent, the client's answer is ignored.
        void write(ask.stream, encodeNotification("notifications/cancelled", about)).catch(() => {});
        fail(problem);
      };
      const onAbort = (): void => giveUp(String(ask.signal?.reason));
      const giveUpAt = performance.now() + ask.timeoutMs * maxTimeouts;
      const wait = (): ReturnType<typeof setTimeout> => {
        const leftMs = Math.min(ask.timeoutMs, giveUpAt - performance.now());
        return setTimeout(() => giveUp(`No answer within ${Math.round(ask.timeoutMs)} ms`), leftMs);
      };
      let timer = wait();
      // Registered before the write, so that a stream that breaks during the write fails the question.
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
      write(ask.stream, text).catch((error: HalyardError) => fail(error.message, error));
    });
  }

  /**
   * Restarts the timeout of the question that a client reports progress on. If another node asked it, passes the report to that
   * node.
   */
  progressed(session: string | undefined, token: unknown, caller: string): Promise<void> | undefined {
    const pending = this.#find(session, token);
    const asker = this.#asker(token);
    if (pending) pending.keepWaiting();
    else if (asker !== undefined && this.#cluster.hears(asker)) {
      return this.#cluster.forwarding.tell(caller, asker, "ask-progress", { session, token });
    }
    return undefined;
  }

  /** Settles the question that a response answers. Returns false if there is none, or its sender lacks the scopes. */
  settle(session: string | undefined, response: RpcResponse, grant: Grant): boolean {
    const pending = this.#find(session, response.id);
    if (pending === undefined || !isGranted(pending.scopes, grant)) return false;
    const { result, error } = response as { result?: unknown; error?: unknown };
    if (isObject(result)) pending.resolve(result);
    else pending.reject(noResult, new HalyardError("ASK_FAILED", problemOf(error), { cause: error }));
    return true;
  }

  /**
   * Passes a response to the node that asked the question. Resolves with whether it settles one there: that node may be gone, or have
   * an answer already. Rejects with `BACKPLANE_UNAVAILABLE` if the client should send it again. Undefined if no other node asked it.
   */
  forward(
    session: string | undefined,
    response: RpcResponse,
    grant: Grant,
    caller: string,
  ): Promise<boolean> | undefined {
    const asker = this.#asker(response.id);
    if (session === undefined || asker === undefined) return undefined;
    // Passes only the scopes, because the other node needs to know nothing else about the sender.
    const scopes = grant === "everything" ? grant : grant?.scopes;
    const key = { session, id: response.id };
    const body = { session, response, grant: scopes };
    const passing = this.#cluster.forwarding.pass({ caller, node: asker, kind: "answer", key, body });
    return passing.then((outcome) => this.#isSettled(outcome, asker));
  }

  /** The other node that asked the question with this id. */
  #asker(id: unknown): string | undefined {
    const node = this.#cluster.hasJoined ? nodeOf(id) : undefined;
    return node === this.#cluster.node ? undefined : node;
  }

  /** Whether that node settled a question with the passed response. */
  #isSettled(outcome: PassOutcome, node: string): boolean {
    if (outcome.state === "answered") return outcome.answer["isSettled"] === true;
    if (outcome.state === "gone" || !this.#cluster.hears(node)) return false;
    throw new HalyardError(
      "BACKPLANE_UNAVAILABLE",
      `Node ${node} did not confirm an answer: try again later`,
    );
  }

  /** A client may send any id; ours are strings. */
  #find(session: string | undefined, id: unknown): Pending | undefined {
    return typeof id === "string" ? this.#pending.get(`${session} ${id}`) : undefined;
  }
}

/** The grant of a sender on another node. */
function readGrant(grant: unknown): Grant {
  if (grant === "everything") return grant;
  return Array.isArray(grant) ? { scopes: grant.filter((scope) => typeof scope === "string") } : undefined;
}

async function write(stream: Stream, text: string): Promise<void> {
  if (stream.ask) await stream.ask(text);
  else stream.write(text);
}

function metaOf(params: object | undefined): object | undefined {
  return (params as { readonly _meta?: object } | undefined)?._meta;
}

/** The message of the client's error, if it has one. */
function problemOf(error: unknown): string {
  const message = isObject(error) ? error["message"] : undefined;
  return typeof message === "string" ? message : "The client answered with neither a result nor an error";
}
