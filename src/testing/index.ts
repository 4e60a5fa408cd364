/**
 * Tests a server in memory, on any revision, without sockets.
 *
 * @module
 */
export { type Respond, type Question, questionsIn, retryOf } from "./answering.ts";
export { backplaneContract } from "./backplane/contract.ts";
export { connect, type ConnectOptions } from "./memory.ts";
export { type RawRequestOptions, TestClient } from "./client.ts";
export type { Received } from "./recorded-wire.ts";
export { protocolRevisions } from "./memory.ts";
export { replay } from "./replay.ts";
export type { StoreCheck } from "./backplane/contract.ts";
export { RpcRejection } from "../client/settings/errors.ts";
export type { Wire } from "../base/wire/wire.ts";
