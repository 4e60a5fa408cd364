// The smallest server over HTTP: what a bundle of Halyard costs.
import { McpServer } from "halyard";
import { serveHttp } from "halyard/node";

const server = new McpServer({ name: "hello", version: "1.0.0" });
server.tool("hello", {}, () => "Hello");
await serveHttp(server);
