// The parts that handle a message. `McpServer` assembles them; the layers above join through `methods` and `asking`.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { Call, CallCore } from "./call.ts";
import type { Middlewares } from "./middleware.ts";
import type { Observers } from "./notifications.ts";
import type { AskingSeam, MethodHandler } from "./seams.ts";

export interface Core extends CallCore {
  readonly middlewares: Middlewares;
  readonly observers: Observers;
  /** The calls that are being answered, with the time when each began. Set while a dashboard is open. */
  running?: Map<Call, number> | undefined;
  /** The tasks that run in this process. */
  readonly tasks: { readonly runs: ReadonlyMap<string, unknown> };
  /** Every method of the protocol, by name. The table of a revision says whether its peers can call it. */
  readonly methods: ReadonlyMap<string, MethodHandler>;
  readonly asking: AskingSeam;
  /** The nodes that serve together, of which this process is one. */
  readonly cluster: Cluster;
}
