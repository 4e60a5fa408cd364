// Our client with our own server: in memory, on stdio, over HTTP on every revision, and with three nodes behind a balancer.
import { describeServers } from "./describe-servers.ts";
import { ours } from "./table.ts";

describeServers(ours);
