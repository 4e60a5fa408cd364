/**
 * Drives a server in memory, on any revision, without sockets: for testing servers.
 *
 * @module
 */
export { connect, type ConnectOptions } from "./memory.ts";
export { type Received, RpcRejection, TestClient, type Wire } from "./client.ts";
export { protocolRevisions } from "./protocol-revisions.ts";
export { sessionStoreContract, type StoreCheck } from "./session-store.ts";
export { taskStoreContract, type TaskStoreCheck } from "./task-store.ts";
