// Our client with the servers of the official SDKs, versions 2 and 1.
import { describeServers } from "./describe-servers.ts";
import { officialV1, officialV2 } from "./table.ts";

describeServers([...officialV2, ...officialV1]);
