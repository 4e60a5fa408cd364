// Measures what an attacker can make an engine hold, by the bytes that it sends, and whether a bystander is answered meanwhile.
// With `--write` it renews bench/engine-memory.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { type AddressInfo, connect as connectTcp, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { createClient } from "@redis/client";
import { type Backplane, McpServer } from "halyard";
import { natsBackplane } from "halyard/nats";
import { type HttpServer, serveHttp } from "halyard/node";
import { redisBackplane } from "halyard/redis";

interface RunningEngine {
  readonly name: string;
  backplane(): Promise<Backplane>;
  /** What it holds now, in bytes: Redis in memory, NATS on disk. */
  held(): Promise<number>;
  stop(): Promise<void>;
}

const kilobyte = 1024;
const atOnce = 8;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function start(program: string, args: (port: string, folder: string) => string[]) {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), "halyard-engine-memory-"))];
  const child = spawn(program, args(String(port), folder), { stdio: "ignore" });
  for (;;) {
    const socket = connectTcp(port, "127.0.0.1");
    const isUp = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) break;
    await sleep(20);
  }
  const stop = async (): Promise<void> => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  return { port, folder, stop };
}

async function startRedis(): Promise<RunningEngine> {
  const { port, stop } = await start("redis-server", (on, folder) => {
    return ["--port", on, "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  });
  const url = `redis://127.0.0.1:${port}`;
  const asking = await createClient({ url }).connect();
  return {
    name: "Redis",
    backplane: async () => redisBackplane(createClient({ url })),
    held: async () => Number(/used_memory:(\d+)/.exec(await asking.info("memory"))?.[1]),
    async stop() {
      asking.destroy();
      await stop();
    },
  };
}

async function startNats(): Promise<RunningEngine> {
  const { port, folder, stop } = await start("nats-server", (on, store) => {
    return ["--addr", "127.0.0.1", "--port", on, "--jetstream", "--store_dir", store];
  });
  const connections: { close(): Promise<void> }[] = [];
  return {
    name: "NATS",
    async backplane() {
      const connection = await connect({ servers: `nats://127.0.0.1:${port}`, maxReconnectAttempts: -1 });
      connections.push(connection);
      return natsBackplane(connection);
    },
    held: async () => sizeOf(folder),
    async stop() {
      await Promise.all(connections.map((connection) => connection.close()));
      await stop();
    },
  };
}

/** Bytes of all files in a folder. */
function sizeOf(folder: string): number {
  const sizes = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => {
    try {
      const found = statSync(join(folder, name));
      return found.isFile() ? found.size : 0;
    } catch {
      return 0;
    }
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function serveNode(backplane: Backplane): Promise<HttpServer> {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const server = new McpServer({ name: "memory", version: "1.0.0" }, { backplane, logger });
  server.tool("echo", {}, () => "echo");
  server.tool("stream", {}, (_, ctx) => {
    ctx.progress(1);
    return "x".repeat(Number(ctx.meta["bytes"]));
  });
  return serveHttp(server, { port: 0, trustProxy: true, rateLimit: false });
}

/** What a client sends, and the bytes that all of it had. */
class Sender {
  readonly #url: string;
  readonly #address: string;
  sent = 0;

  constructor(url: string, address: string) {
    this.#url = url;
    this.#address = address;
  }

  /** Sends one request, reads all of its reply, or its head if that is an endless stream. */
  send(method: string, session: string | undefined, body: unknown, more: Record<string, string> = {}) {
    const headers = {
      "x-forwarded-for": this.#address,
      accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(session === undefined ? {} : { "mcp-session-id": session }),
      ...more,
    };
    return new Promise<{ status: number; session: string; text: string; id: string }>((resolve, reject) => {
      const sending = request(this.#url, { method, headers, agent: false }, (response) => {
        const pieces: string[] = [];
        const finish = (): void => {
          this.sent += sending.socket?.bytesWritten ?? 0;
          const text = pieces.join("");
          const id = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
          resolve({
            status: response.statusCode ?? 0,
            session: String(response.headers["mcp-session-id"]),
            text,
            id,
          });
        };
        response.setEncoding("utf8").on("data", (piece: string) => {
          pieces.push(piece);
          if (method !== "GET") return;
          finish();
          response.destroy();
        });
        response.on("end", finish);
        response.on("error", () => {});
      });
      sending.on("error", reject);
      sending.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async open(protocolVersion = "2025-11-25"): Promise<string> {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "a", version: "1" } };
    const { session } = await this.send("POST", undefined, call(0, "initialize", params));
    await this.send("POST", session, { jsonrpc: "2.0", method: "notifications/initialized" });
    return session;
  }
}

function call(id: unknown, method: string, params: object = {}): object {
  return { jsonrpc: "2.0", id, method, params };
}

function streamCall(id: number, bytes: number): object {
  return call(id, "tools/call", { name: "stream", arguments: {}, _meta: { progressToken: id, bytes } });
}

async function times(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  let at = 0;
  const worker = async (): Promise<void> => {
    while (at < count) await run(at++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** What the attacker does at its node, by what it is called in the table. */
const attacks: Readonly<Record<string, (attacker: Sender) => Promise<void>>> = {
  "1,000 sessions, each with a streamed result of 200 KB": (attacker) =>
    times(1000, async () => attacker.send("POST", await attacker.open(), streamCall(1, 200 * kilobyte))),
  "1,000 streamed results of 200 KB in one session": async (attacker) => {
    const session = await attacker.open();
    await times(1000, (at) => attacker.send("POST", session, streamCall(at, 200 * kilobyte)));
  },
  "30 pings with a request id of 4 MB": async (attacker) => {
    const session = await attacker.open();
    await times(30, (at) => attacker.send("POST", session, call(`${at}${"x".repeat(4_100_000)}`, "ping")));
  },
  "5 batches of twenty results of 2 MB": async (attacker) => {
    const session = await attacker.open("2025-03-26");
    const batch = Array.from({ length: 20 }, (_, at) => streamCall(at, 2048 * kilobyte));
    for (let at = 0; at < 5; at++) await attacker.send("POST", session, batch);
  },
  "1,000 resumes with an old id, of a session with a full log": async (attacker) => {
    const session = await attacker.open();
    const { id } = await attacker.send("GET", session, undefined);
    for (let at = 0; at < 20; at++) await attacker.send("POST", session, streamCall(at, 200 * kilobyte));
    await times(1000, () => attacker.send("GET", session, undefined, { "last-event-id": id }));
  },
  "2,000 sessions, opened and deleted": (attacker) =>
    times(2000, async () => attacker.send("DELETE", await attacker.open(), undefined)),
  "2,000 sessions, opened": (attacker) => times(2000, () => attacker.open()),
};

interface Row {
  readonly attack: string;
  readonly engine: string;
  readonly sent: number;
  readonly grown: number;
  readonly answered: number;
  readonly refused: number;
}

async function measure(attack: string, startEngine: () => Promise<RunningEngine>): Promise<Row> {
  const engine = await startEngine();
  const nodes = [await serveNode(await engine.backplane()), await serveNode(await engine.backplane())];
  const [attacker, bystander] = nodes.map(({ url }, at) => new Sender(String(url), `203.0.113.${at}`));
  if (attacker === undefined || bystander === undefined) throw new Error("There are two nodes");
  const own = await bystander.open();
  const before = await engine.held();
  let [peak, answered, refused] = [before, 0, 0];
  const over = new AbortController();
  const ask = async (): Promise<void> => {
    for (; !over.signal.aborted; await sleep(20)) {
      const { status } = await bystander
        .send("POST", own, call(1, "tools/call", { name: "echo", arguments: {} }))
        .catch(() => ({ status: 0 }));
      if (status === 200) answered++;
      else refused++;
    }
  };
  const watch = async (): Promise<void> => {
    for (; !over.signal.aborted; await sleep(50)) peak = Math.max(peak, await engine.held());
  };
  const others = [ask(), watch()];
  await attacks[attack]?.(attacker);
  peak = Math.max(peak, await engine.held());
  over.abort();
  await Promise.all(others);
  for (const node of nodes) await node.close();
  await engine.stop();
  return { attack, engine: engine.name, sent: attacker.sent, grown: peak - before, answered, refused };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 1)} MB`;
}

const rows: Row[] = [];
for (const attack of Object.keys(attacks)) {
  for (const startEngine of [startRedis, startNats]) {
    const row = await measure(attack, startEngine);
    rows.push(row);
    console.error(row);
  }
}

const lines = rows.map(({ attack, engine, sent, grown, answered, refused }) => {
  const factor = (grown / sent).toFixed(1);
  return `| ${attack} | ${engine} | ${megabytes(sent)} | ${megabytes(grown)} | ${factor} | ${answered} of ${answered + refused} |`;
});
const page = `# What an attacker can make an engine hold

One client without a principal sends requests to one of two nodes, with the default limits. Beside it, a client with another address sends
a call to the other node every 20 ms. "Grown" is the peak while the attack runs: \`used_memory\` of Redis, the files of NATS. The results
are what the author's handler returns; \`maxTotalBytes\`, 67 MB by default, bounds what logs keep of them. A session has a fixed cost, which
\`maxSharedSessions\` bounds.

| attack | engine | sent | grown | factor | bystander's calls answered |
| --- | --- | ---: | ---: | ---: | --- |
${lines.join("\n")}

\`npm run bench:engine-memory -- --write\` renews this page, after \`npm run build\`.
`;
if (process.argv.includes("--write"))
  writeFileSync(new URL("../bench/engine-memory.md", import.meta.url), page);
else console.log(page);
