// Hooks that run around calls, with what is known of a call, and how it ended.
import { isThenable } from "../base/async/promises.ts";
import type { JsonObject, RpcResponse } from "../base/wire/message.ts";
import { RateLimitedLog } from "../base/logging/rate-limited-log.ts";
import type { Logger } from "../base/logging/logger.ts";
import type { Implementation, Principal } from "../protocol/model.ts";
import { identityOf } from "../protocol/principal.ts";
import type { Call } from "../server/calls/call.ts";
import { subjectOf } from "../server/calls/failure.ts";
import type { CallOutcome } from "../server/calls/outcome.ts";
import type { CallAnswer, WindowSeam } from "../server/calls/window-seam.ts";
import type { RunningCalls } from "./inside/running-calls.ts";

/** A call that is about to run. */
export interface AroundCall {
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined;
  /** The id that the client chose for its request. */
  readonly requestId: string | number;
  readonly revision: string;
  readonly era: "modern" | "legacy";
  /** The `_meta` of the request, for example with `traceparent`. */
  readonly meta: JsonObject;
  /** The parameters of the request, as the client sent them. */
  readonly params: JsonObject;
  readonly transport: string;
  /** The id of the legacy session. */
  readonly session: string | undefined;
  /** The identity of the caller, without the claims of its token. */
  readonly principal: Principal | undefined;
  /** The key under which limits count the caller. */
  readonly caller: string;
  /** The name and version that the client sends about itself. */
  readonly client: Implementation | undefined;
  /** The address of the client, if known. */
  readonly address: string | undefined;
}

/** How a call ended. */
export interface CallEnd {
  /** A result with `isError` counts as an error, too. */
  readonly outcome: "ok" | "error" | "cancelled";
  /** The JSON-RPC error code; undefined for a result with `isError`. */
  readonly errorCode: number | undefined;
  /** The error id that the client got, if the handler threw an unexpected error. */
  readonly errorId: string | undefined;
  /** Why it failed, as the client sees it. */
  readonly reason: string | undefined;
  /** What the handler or middleware threw. */
  readonly error: unknown;
  /** What the client gets. Do not change it. */
  readonly response: RpcResponse;
  /** The id of the task that the call has become, whose handler is still running. */
  readonly task: string | undefined;
  readonly durationMs: number;
}

/**
 * Runs around a call. Call `run` once: it runs middleware and handler at once, so that they inherit the async context, and resolves
 * when the client has its answer. It never rejects. What the hook throws is logged, and does not affect the call.
 */
export type AroundHook = (call: AroundCall, run: () => Promise<CallEnd>) => void | Promise<unknown>;

export class Around {
  readonly #seam: WindowSeam;
  readonly #calls: RunningCalls;
  readonly #log: RateLimitedLog;
  #hooks: readonly { readonly hook: AroundHook }[] = [];

  constructor(seam: WindowSeam, calls: RunningCalls, logger: Logger) {
    this.#seam = seam;
    this.#calls = calls;
    this.#log = RateLimitedLog.of(logger);
  }

  /** Adds a hook inside the others, until you call the returned function. */
  add(hook: AroundHook): () => void {
    const entry = { hook };
    this.#hooks = [...this.#hooks, entry];
    this.#seam.around = this.#around;
    return () => {
      this.#hooks = this.#hooks.filter((other) => other !== entry);
      if (this.#hooks.length === 0) this.#seam.around = undefined;
    };
  }

  readonly #around = (call: Call, run: () => CallAnswer): CallAnswer => {
    const told = describe(call);
    const end = new Promise<CallEnd>((resolve) => {
      this.#calls.onEnd(call, (outcome, response, durationMs) =>
        resolve(endOf(call, outcome, response, durationMs)),
      );
    });
    const nested = this.#hooks.reduceRight(
      (inner, { hook }) =>
        () =>
          this.#runHook(hook, told, end, inner),
      run,
    );
    return nested();
  };

  #runHook(hook: AroundHook, told: AroundCall, end: Promise<CallEnd>, inner: Run): CallAnswer {
    let answering: CallAnswer;
    let isRun = false;
    let onRun: (() => void) | undefined;
    const run = (): Promise<CallEnd> => {
      if (isRun) return end;
      isRun = true;
      answering = attempt(inner);
      onRun?.();
      return end;
    };
    let returned: unknown;
    try {
      returned = hook(told, run);
    } catch (error) {
      this.#failed(error);
    }
    const pending = isThenable(returned) ? Promise.resolve(returned) : undefined;
    pending?.catch((error: unknown) => this.#failed(error));
    if (isRun) return answering;
    // The hook waits for something first, or it has ended without running the call.
    if (pending === undefined) {
      void run();
      return answering;
    }
    return new Promise((resolve) => {
      onRun = () => resolve(answering);
      pending.then(run, run);
    });
  }

  #failed(error: unknown): void {
    this.#log.error("A hook around calls failed", { error });
  }
}

type Run = () => CallAnswer;

/** An exception of the call must not reach the hook, which would count as the failed one. */
function attempt(run: Run): CallAnswer {
  try {
    return run();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

function describe(call: Call): AroundCall {
  const { method, id, revision, era, meta, params, transport, session, principal, caller, client } = call;
  return {
    method,
    name: subjectOf(call),
    requestId: id,
    revision,
    era,
    meta,
    params,
    transport,
    session,
    principal: identityOf(principal),
    caller,
    client,
    address: call.address,
  };
}

function endOf(
  call: Call,
  { outcome, errorCode, errorId, reason }: CallOutcome,
  response: RpcResponse,
  durationMs: number,
): CallEnd {
  const { taskId: task, failed } = call;
  return { outcome, errorCode, errorId, reason, error: failed?.error, response, task, durationMs };
}
