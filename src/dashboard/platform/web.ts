// The platform of workers and other runtimes without Node: a dashboard can only be mounted as `fetchHandler`.
import { ConfigurationError } from "../../base/errors.ts";
import type { DashboardPlatform } from "./platform.ts";

const remedy = "needs node:http, which this runtime lacks: mount fetchHandler of the dashboard instead";

export const platform: DashboardPlatform = {
  listen: () => refuse("port"),
  hostName: () => "this node",
  nodeHandler: () => refuse("nodeHandler"),
};

function refuse(field: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "dashboard", field }, remedy);
}
