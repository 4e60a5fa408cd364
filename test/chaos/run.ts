// One client behind a proxy that cuts, and what it was told, beside what it should have been told.
import { type JsonObject, McpServer } from "halyard";
import { Random } from "../fuzz/random.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { recordingLogger } from "../support/log.ts";
import { edges, start } from "../support/sessions.ts";
import type { ChaosClient, ClientRow } from "./client.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly revision: string;
  /** How much happens while the proxy cuts. */
  readonly steps: number;
}

export interface ChaosReport {
  readonly cuts: number;
  readonly pushed: number;
  /** How often the client was told to read everything again. */
  readonly gaps: number;
  /** What did not arrive, though nothing told the client to read again. */
  readonly lost: readonly string[];
  /** What arrived twice. */
  readonly doubled: readonly string[];
  /** Pushes that did not arrive, and were made good. */
  readonly madeGood: number;
  readonly calls: { readonly answered: number; readonly failed: number };
  /** Whether the client had no stream in the end, and did not come back for one. */
  readonly gaveUp: boolean;
  readonly transcript: string;
}

const uri = "note:///a";
const logsOfACall = 3;

/** What the client was told; the server is in the same process, so that what it would read at that moment is known. */
class Ledger {
  readonly heard = new Map<string, number>();
  pushed = 0;
  gaps = 0;
  /** How many numbers had been pushed when the client was last told to read everything again. */
  #coveredTo = 0;
  readonly versions: Record<"tools" | "resource", { now: number; read: number }> = {
    tools: { now: 0, read: 0 },
    resource: { now: 0, read: 0 },
  };
  readonly answered: number[] = [];
  readonly wrong: string[] = [];

  hear(method: string, params: JsonObject): void {
    const { tools, resource } = this.versions;
    if (method === "notifications/tools/list_changed") tools.read = tools.now;
    else if (method === "notifications/resources/updated") resource.read = resource.now;
    // Nothing changes the prompts: only a gap says that they may have changed.
    else if (method === "notifications/prompts/list_changed") {
      this.gaps++;
      this.#coveredTo = this.pushed;
    } else if (params["data"] !== undefined) {
      const name = String(params["data"]);
      this.heard.set(name, (this.heard.get(name) ?? 0) + 1);
    }
  }

  get missing(): number[] {
    return Array.from({ length: this.pushed }, (_, at) => at + 1).filter(
      (at) => !this.heard.has(`push ${at}`),
    );
  }

  get lost(): string[] {
    const stale = Object.entries(this.versions).filter(([, { now, read }]) => now !== read);
    return [
      ...this.missing.filter((at) => at > this.#coveredTo).map((at) => `push ${at}`),
      ...stale.map(([what, { now, read }]) => `${what} ${read + 1} to ${now}`),
      ...this.answered.flatMap(logsOf).filter((name) => !this.heard.has(name)),
    ];
  }

  get doubled(): string[] {
    return [...this.heard].filter(([, times]) => times > 1).map(([name]) => name);
  }
}

function logsOf(call: number): string[] {
  return Array.from({ length: logsOfACall }, (_, at) => `call ${call} log ${at + 1}`);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

class Subject {
  readonly server = new McpServer({ name: "chaos", version: "1.0.0" }, { logger: recordingLogger() });
  readonly ledger = new Ledger();
  readonly #runs = new Set<number>();
  readonly #flag;

  constructor() {
    const { server } = this;
    this.#flag = server.tool("flag", {}, () => "flag");
    server.prompt("never changes", {}, () => "prompt");
    server.resource(uri, {}, () => String(this.ledger.versions.resource.now));
    server.tool("count", { input: { type: "object" } }, async (args, ctx) => {
      const { call } = args as { call: number };
      if (this.#runs.has(call)) this.ledger.wrong.push(`call ${call} ran twice`);
      this.#runs.add(call);
      for (const data of logsOf(call)) {
        ctx.log("info", data);
        await sleep(3);
      }
      return String(call);
    });
  }

  change(): void {
    this.ledger.versions.tools.now++;
    this.#flag.update({ description: String(this.ledger.versions.tools.now) });
  }

  async update(): Promise<void> {
    this.ledger.versions.resource.now++;
    await this.server.resources.updated(uri);
  }

  async push(session: string, toAll: boolean): Promise<void> {
    const params = { level: "info", data: `push ${++this.ledger.pushed}` };
    if (toAll) await this.server.push.broadcast("notifications/message", params);
    else await this.server.push.toSession(session, "notifications/message", params);
  }

  async call(client: ChaosClient, call: number): Promise<void> {
    const answer = await client.call("count", { call });
    if (answer !== String(call)) this.ledger.wrong.push(`call ${call} was answered ${answer}`);
    this.ledger.answered.push(call);
  }
}

/** Everything that happens while the proxy cuts; answers how many calls the client has lost. */
async function happen(subject: Subject, client: ChaosClient, { seed, steps }: ChaosOptions): Promise<number> {
  const random = new Random(seed + 1);
  const calls = new Set<Promise<void>>();
  let failed = 0;
  let called = 0;
  for (let step = 0; step < steps; step++) {
    const kind = random.pick(["push", "push", "push", "update", "change", "call", "rest"] as const);
    if (kind === "push") await subject.push(client.session, random.chance(0.5));
    else if (kind === "update") await subject.update();
    else if (kind === "change") subject.change();
    else if (kind === "call" && calls.size < 3) {
      const running = subject
        .call(client, ++called)
        .catch(() => void failed++)
        .finally(() => calls.delete(running));
      calls.add(running);
    }
    await sleep(random.below(12));
  }
  await Promise.all(calls);
  return failed;
}

export async function chaos(row: ClientRow, options: ChaosOptions): Promise<ChaosReport> {
  const subject = new Subject();
  const { ledger, server } = subject;
  const edge = edges[options.seed % edges.length] ?? "serveHttp";
  const served = await start(server, { retryMs: 20, resumeWindowMs: 500, graceMs: 0 }, edge);
  const proxy = await CuttingProxy.open(served.url, { seed: options.seed, sparesHeads: row.givesUp });
  try {
    const client = await row.connect(`${proxy.origin}/mcp`, options.revision, (method, params) =>
      ledger.hear(method, params),
    );
    await client.subscribe(uri);
    proxy.rage();
    const failed = await happen(subject, client, options);
    proxy.calm();
    // The server reports a gap when the time to resume a stream is over; here that is half a second.
    const deadline = performance.now() + 10_000;
    while (ledger.lost.length > 0 && performance.now() < deadline) await sleep(20);
    const gaveUp = served.stats().streams === 0;
    await client.close();
    const { lost, doubled, missing, pushed, gaps, answered } = ledger;
    const calls = { answered: answered.length, failed };
    const { cuts, transcript } = proxy;
    return {
      cuts,
      pushed,
      gaps,
      lost,
      doubled: [...doubled, ...ledger.wrong],
      madeGood: missing.length,
      calls,
      gaveUp,
      transcript,
    };
  } finally {
    proxy.close();
    await served.close();
  }
}
