// The parts that handle a message. `McpServer` assembles them; the layers above join through `methods` and `asking`.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { Call, CallCore } from "./call.ts";
import type { Middlewares } from "./middleware.ts";
import type { Observers } from "./notifications.ts";
import type { AskingSeam, MethodHandler } from "./seams.ts";
import type { WindowSeam } from "./window-seam.ts";

/** A task whose handler runs in this process. */
interface RunningTask {
  readonly record: {
    readonly tool: string;
    readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
    readonly statusMessage?: string;
    /** An ISO 8601 date. */
    readonly createdAt: string;
    readonly ttlMs: number;
  };
  readonly call: Call;
}

export interface Core extends CallCore {
  readonly middlewares: Middlewares;
  readonly observers: Observers;
  /** What a window adds. */
  readonly window: WindowSeam;
  /** The tasks that run in this process. */
  readonly tasks: { readonly runs: ReadonlyMap<string, RunningTask> };
  /** Every method of the protocol, by name. The table of a revision says whether its peers can call it. */
  readonly methods: ReadonlyMap<string, MethodHandler>;
  readonly asking: AskingSeam;
  /** The nodes that serve together, of which this process is one. */
  readonly cluster: Cluster;
}
