// The smallest useful server: one typed tool over standard input and output.
import { McpServer } from "halyard";
import { serveStdio } from "halyard/stdio";
import * as z from "zod";

const server = new McpServer({ name: "hello", version: "1.0.0" });

server.tool("greet", { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}!`);

await serveStdio(server);
