// The seam through which a window joins the core: what it tracks, follows and runs around calls. Unused, all of it is undefined.
import type { Incoming, RpcResponse } from "../../base/wire/message.ts";
import type { Connection } from "../context/connection.ts";
import type { Call } from "./call.ts";

/** Keeps the calls that are running. */
export interface CallTracker {
  began(call: Call, startedAt: number): void;
  ended(call: Call, response: RpcResponse, durationMs: number): void;
}

/** Decides which connections are followed. It must not throw, nor change its arguments. */
export interface ConnectionWatch {
  /** A message or batch of a client, before it is answered. */
  received(connection: Connection, incoming: Incoming): void;
  /** A legacy session begins in this process, perhaps without a message. */
  opened(connection: Connection): void;
}

/** The response to a call, or a promise of it; undefined if the call was cancelled. */
export type CallAnswer = RpcResponse | undefined | Promise<RpcResponse | undefined>;

/** Runs code around a call. It calls `run` exactly once, and returns what `run` returns. */
export type AroundCalls = (call: Call, run: () => CallAnswer) => CallAnswer;

/** Counts the calls that end, listen requests apart. */
export interface CallCounter {
  count(response: RpcResponse): void;
}

/** Set by a window, and read for each call. */
export interface WindowSeam {
  calls?: CallTracker | undefined;
  counter?: CallCounter | undefined;
  connections?: ConnectionWatch | undefined;
  around?: AroundCalls | undefined;
}
