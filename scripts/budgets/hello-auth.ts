// The smallest server over HTTP that wants a token: what a bundle of `halyard/auth` adds.
import { McpServer } from "halyard";
import { bearerAuth } from "halyard/auth";
import { serveHttp } from "halyard/node";

const server = new McpServer({ name: "hello", version: "1.0.0" });
server.tool("hello", {}, () => "Hello");
const auth = bearerAuth({
  resource: "https://mcp.example.com/mcp",
  authorizationServers: ["https://auth.example.com"],
});
await serveHttp(server, { auth });
