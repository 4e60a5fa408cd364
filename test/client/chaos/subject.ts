// The server of the chaos: it knows how often each call ran and every change that it published, and it can be restarted.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "halyard";
import { nodeHandler } from "halyard/node";
import * as z from "zod";
import { recordingLogger } from "../../support/log.ts";

/** The tools that count, by what a client may do with a call that it has lost. */
export const toolNames = ["look", "set", "pay", "ask", "long"] as const;
export type ToolName = (typeof toolNames)[number];
export const repeatable: ReadonlySet<string> = new Set<ToolName>(["look", "set"]);

const hints = { look: { readOnlyHint: true }, set: { idempotentHint: true }, pay: {} } as const;
const input = z.object({ key: z.string(), streams: z.boolean().optional() });

const httpOptions = { retryMs: 2, resumeWindowMs: 300_000, graceMs: 0, rateLimit: false } as const;

export class Subject {
  readonly server = new McpServer(
    { name: "chaos", version: "1.0.0" },
    { logger: recordingLogger(), tasks: { pollIntervalMs: 5 } },
  );
  readonly #runs = new Map<string, number>();
  readonly #http = createServer((request, response) => void this.#handler(request, response));
  readonly #changing;
  #handler = nodeHandler(this.server, httpOptions);
  /** How many changes of the list of tools were published. */
  toolsVersion = 0;
  restarts = 0;

  constructor() {
    const { server } = this;
    for (const name of ["look", "set", "pay"] as const) {
      server.tool(name, { input, annotations: hints[name] }, async ({ key, streams }, ctx) => {
        this.#run(key);
        if (streams) {
          ctx.progress(1, 2);
          await new Promise((resolve) => setTimeout(resolve, 2));
          ctx.progress(2, 2);
        }
        return key;
      });
    }
    server.tool("ask", { input }, async ({ key }, ctx) => {
      await ctx.elicit("Who?", z.object({ name: z.string() }));
      this.#run(key);
      return key;
    });
    server.tool("long", { input, task: "optional" }, async ({ key }) => {
      this.#run(key);
      await new Promise((resolve) => setTimeout(resolve, 10));
      return key;
    });
    this.#changing = server.tool("changing", {}, () => "changing");
    server.prompt("greet", {}, () => "Hello");
    server.resourceTemplate("note:///{id}", {}, ({ uri }) => String(uri));
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  /** Forgets all sessions and breaks all connections, as another process would. */
  restart(): void {
    const old = this.#handler;
    this.restarts++;
    this.#handler = nodeHandler(this.server, httpOptions);
    void old.close();
    this.#http.closeAllConnections();
  }

  runsOf(key: string): number {
    return this.#runs.get(key) ?? 0;
  }

  changeTools(): void {
    this.#changing.update({ description: String(++this.toolsVersion) });
  }

  stats(): { readonly sessions: number; readonly streams: number; readonly inFlight: number } {
    return this.#handler.stats();
  }

  async close(): Promise<void> {
    this.#http.close();
    await this.#handler.close();
    this.#http.closeAllConnections();
  }

  #run(key: string): void {
    this.#runs.set(key, this.runsOf(key) + 1);
  }
}
