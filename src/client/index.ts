/**
 * Connects to MCP servers of every protocol revision, over HTTP, stdio and memory.
 *
 * @module
 */
export type { Wire, WireSource } from "../wire/wire.ts";
export type { AuthOption, AuthRefusal, ClientAuth, HeaderFields } from "./settings/auth.ts";
export type { ClientEvent } from "./settings/events.ts";
export type { Backoff, ClientLimits } from "./settings/limits.ts";
export type { CallOptions, CommandTarget, ConnectOptions } from "./settings/options.ts";
export type { Remembered } from "./settings/remembered.ts";
export type { ClientState } from "./settings/state.ts";
