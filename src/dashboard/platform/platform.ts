// The features of a runtime that a dashboard uses beyond the web: Node listens on a port, and has its own requests and responses.
import type { Site } from "../../transports/fetch/index.ts";
import type { NodeDashboardHandler } from "./node-dashboard-handler.ts";

/** The port of a dashboard, on loopback. */
export interface OwnPort {
  readonly port: number;
  /** Stops listening, and closes every connection. */
  close(): void;
}

/** The parts of a dashboard that differ between runtimes. The import `#dashboard-platform` is the one of the current runtime. */
export interface DashboardPlatform {
  /** Serves the site on 127.0.0.1; port 0 is any free one. */
  listen(port: number, site: Site): Promise<OwnPort>;
  /** The name of this machine. */
  hostName(): string;
  /** Returns a handler to mount. */
  nodeHandler(site: Site): NodeDashboardHandler;
}
