/**
 * Tests a server in memory, on any revision, without sockets.
 *
 * @module
 */
export { type Respond, type Question, questionsIn, retryOf } from "./answering.ts";
export { connect, type ConnectOptions } from "./memory.ts";
export { type Received, RpcRejection, TestClient, type Wire } from "./client.ts";
export { protocolRevisions } from "./protocol-revisions.ts";
export { singleUseStoreContract } from "./single-use-store.ts";
export type { StoreCheck } from "./store-check.ts";
export { taskStoreContract } from "./task-store.ts";
