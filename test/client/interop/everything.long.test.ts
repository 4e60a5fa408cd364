// Our client with the published server that has every feature. Its task takes four seconds, so it has a file of its own.
import { describeServers } from "./describe-servers.ts";
import { everything } from "./table.ts";

describeServers(everything);
