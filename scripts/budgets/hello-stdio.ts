// The smallest server on stdio: what a bundle of Halyard costs.
import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";

const server = new McpServer({ name: "hello", version: "1.0.0" });
server.tool("hello", {}, () => "Hello");
await serveStdio(server);
