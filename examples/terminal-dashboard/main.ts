// Serves a greeting over HTTP, with a dashboard in the terminal.
import { McpServer } from "halyard";
import { serveHttp } from "halyard/node";
import * as z from "zod";
import { showDashboard } from "./dashboard.ts";

const server = new McpServer({ name: "greeter", version: "1.0.0" });
server.tool("greet", { input: z.object({ name: z.string() }) }, ({ name }) => {
  if (name === "nobody") throw new Error("There is nobody to greet");
  return `Hello, ${name}!`;
});

const { url } = await serveHttp(server, { port: Number(process.env["PORT"] ?? 3000) });
console.log(url);
showDashboard(server);
