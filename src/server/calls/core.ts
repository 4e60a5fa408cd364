// What it takes to answer messages. McpServer puts it together; the layers above join it by `methods` and `asking`.
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { CallCore } from "./call.ts";
import type { Middlewares } from "./middleware.ts";
import type { Observers } from "./notifications.ts";
import type { Asking, MethodHandler } from "./seams.ts";

export interface Core extends CallCore {
  readonly catalogue: Catalogue;
  readonly middlewares: Middlewares;
  readonly observers: Observers;
  /** By name, every method of the protocol. Whether a peer has one is for the table of its revision to say. */
  readonly methods: ReadonlyMap<string, MethodHandler>;
  readonly asking: Asking;
}
