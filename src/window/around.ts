// Hooks that run around calls, with what is known of a call, and how it ended.
import { isThenable } from "../base/async/promises.ts";
import { clip } from "../base/errors.ts";
import type { JsonObject, RpcResponse } from "../base/wire/message.ts";
import { RateLimitedLog } from "../base/logging/rate-limited-log.ts";
import type { Logger } from "../base/logging/logger.ts";
import type { Implementation, Principal } from "../protocol/model.ts";
import { identityOf } from "../protocol/principal.ts";
import type { Call } from "../server/calls/call.ts";
import { subjectOf } from "../server/calls/failure.ts";
import type { CallOutcome } from "../server/calls/outcome.ts";
import type { CallAnswer, WindowSeam } from "../server/calls/window-seam.ts";
import { LateCopy } from "./frozen-copies.ts";
import type { RunningCalls } from "./inside/running-calls.ts";

/** A call that is about to run: a copy, frozen at every depth, so writing to it throws. Change a call with `server.use()`. */
export interface AroundCall {
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined;
  /** The id that the client chose for its request. */
  readonly requestId: string | number;
  readonly revision: string;
  readonly era: "modern" | "legacy";
  /** The `_meta` of the request, for example with `traceparent`. Copied when you first read it. */
  readonly meta: JsonObject;
  /** The parameters of the request, as the client sent them. Copied when you first read them. */
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

/** How a call ended. Frozen, like the call: change a result with `server.use()`. */
export interface CallEnd {
  /** A result with `isError` counts as an error, too. */
  readonly outcome: "ok" | "error" | "cancelled";
  /** The JSON-RPC error code; undefined for a result with `isError`. */
  readonly errorCode: number | undefined;
  /** The error id that the client got, if the handler threw an unexpected error. */
  readonly errorId: string | undefined;
  /** Why it failed, as the client sees it. */
  readonly reason: string | undefined;
  /** What the handler or middleware threw: the value itself, not a copy. */
  readonly error: unknown;
  /** What the client gets. Copied when you first read it. */
  readonly response: RpcResponse;
  /** The id of the task that the call has become, whose handler is still running. */
  readonly task: string | undefined;
  readonly durationMs: number;
}

/**
 * Runs around a call. Call `run` once: it runs middleware and handler at once, so that they inherit the async context, and resolves
 * when the client has its answer. It never rejects. What the hook throws is logged, and the call runs all the same: refuse calls with
 * `server.use()`.
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
    const told = new SeenCall(call);
    const end = new Promise<CallEnd>((resolve) => {
      this.#calls.onEnd(call, (outcome, response, durationMs) =>
        resolve(new SeenEnd(call, outcome, response, durationMs)),
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
      this.#failed(error, told, isRun);
    }
    const pending = isThenable(returned) ? Promise.resolve(returned) : undefined;
    pending?.catch((error: unknown) => this.#failed(error, told, isRun));
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

  #failed(error: unknown, { method, name }: AroundCall, isRun: boolean): void {
    const what = "A hook around calls failed";
    if (isRun) return this.#log.error(what, { error });
    const call = name === undefined ? method : `${method} ${JSON.stringify(clip(name))}`;
    this.#log.error(`${what}, and ${call} ran all the same: to refuse a call, use server.use()`, { error });
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

/** What a hook sees of a call. The getters are those of the class, because making them for each object costs microseconds. */
class SeenCall implements AroundCall {
  readonly method: string;
  readonly name: string | undefined;
  readonly requestId: AroundCall["requestId"];
  readonly revision: string;
  readonly era: AroundCall["era"];
  readonly transport: string;
  readonly session: string | undefined;
  readonly principal: AroundCall["principal"];
  readonly caller: AroundCall["caller"];
  readonly address: string | undefined;
  readonly #meta: LateCopy<AroundCall["meta"]>;
  readonly #params: LateCopy<AroundCall["params"]>;
  readonly #client: LateCopy<AroundCall["client"]>;

  constructor(call: Call) {
    this.method = call.method;
    this.name = subjectOf(call);
    this.requestId = call.id;
    this.revision = call.revision;
    this.era = call.era;
    this.transport = call.transport;
    this.session = call.session;
    this.principal = Object.freeze(identityOf(call.principal));
    this.caller = call.caller;
    this.address = call.address;
    this.#meta = new LateCopy(call.meta);
    this.#params = new LateCopy(call.params);
    this.#client = new LateCopy(call.client);
    Object.freeze(this);
  }

  get meta(): AroundCall["meta"] {
    return this.#meta.read();
  }

  get params(): AroundCall["params"] {
    return this.#params.read();
  }

  get client(): AroundCall["client"] {
    return this.#client.read();
  }
}

/** How a call ended, as a hook sees it. */
class SeenEnd implements CallEnd {
  readonly outcome: CallEnd["outcome"];
  readonly errorCode: number | undefined;
  readonly errorId: string | undefined;
  readonly reason: string | undefined;
  readonly error: unknown;
  readonly task: string | undefined;
  readonly durationMs: number;
  readonly #response: LateCopy<RpcResponse>;

  constructor(
    call: Call,
    { outcome, errorCode, errorId, reason }: CallOutcome,
    response: RpcResponse,
    durationMs: number,
  ) {
    this.outcome = outcome;
    this.errorCode = errorCode;
    this.errorId = errorId;
    this.reason = reason;
    this.error = call.failed?.error;
    this.task = call.taskId;
    this.durationMs = durationMs;
    this.#response = new LateCopy(response);
    Object.freeze(this);
  }

  get response(): RpcResponse {
    return this.#response.read();
  }
}
