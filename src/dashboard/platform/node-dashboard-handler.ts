// The type of a dashboard's handler for `node:http`. Runtimes without Node only name it.
import type { IncomingMessage, ServerResponse } from "node:http";

/** A handler for `node:http`. Its promise resolves when the request has been answered. */
export type NodeDashboardHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
