// Long-running work: a task for clients that support tasks, an ordinary call with progress for all others.
import { setTimeout as sleep } from "node:timers/promises";
import { McpServer } from "halyard";
import { serveHttp } from "halyard/node";
import * as z from "zod";

const server = new McpServer({ name: "reports", version: "1.0.0" }, { tasks: { ttlMs: 10 * 60_000 } });

server.tool(
  "write_report",
  {
    description: "Writes a report, page by page.",
    input: z.object({
      pages: z.int().min(1).max(100).default(10),
      msPerPage: z.int().min(1).max(5000).default(1000),
    }),
    task: { pollIntervalMs: 500 },
  },
  async ({ pages, msPerPage }, ctx) => {
    for (let page = 1; page <= pages; page++) {
      // When the client cancels, the signal aborts, and the work ends here.
      await sleep(msPerPage, undefined, { signal: ctx.signal });
      // In a task this is the status message; in a call it is sent if the client requested progress.
      ctx.progress(page, pages, `Page ${page} of ${pages}`);
    }
    return `A report of ${pages} pages`;
  },
);

const { url } = await serveHttp(server, { port: Number(process.env["PORT"] ?? 3000) });
console.log(`Serving on ${url}`);
