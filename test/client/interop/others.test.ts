// Our client with the servers of other SDKs.
import { describeServers } from "./describe-servers.ts";
import { fastmcp, mcpLite, tmcp } from "./table.ts";

describeServers([...fastmcp, ...mcpLite, ...tmcp]);
