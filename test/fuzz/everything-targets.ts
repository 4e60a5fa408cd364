// The conformance fixture in a process of its own, where a crash is seen and memory can be measured.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "halyard";
import { everythingCommand, startReady } from "../support/everything.ts";
import { modernRequest } from "../support/raw.ts";
import { sendModern } from "../support/sessions.ts";
import { readLines } from "../support/stdio.ts";
import { until } from "../support/turns.ts";
import { httpInput, lineInput } from "./http-inputs.ts";
import { HttpPeer, overHttp } from "./http-target.ts";
import { type Input, piecesOf } from "./input.ts";
import { messageProblem } from "./judge.ts";
import { hangMs } from "./socket.ts";
import type { Holding, Target } from "./target.ts";

function measurable(...args: readonly string[]): readonly [string, ...string[]] {
  const [command, ...rest] = everythingCommand(...args);
  return [command, "--expose-gc", ...rest];
}

/** What the log must never say, whatever comes. */
function logProblem(stderr: string): string | undefined {
  const [line] = /^.*(?:could not be answered|Unhandled|ERR_|TypeError|RangeError).*$/m.exec(stderr) ?? [];
  return line === undefined ? undefined : `the log says: ${line}`;
}

/** What the fixture says of itself, and what the system says of its process. */
function holdingOf(stats: JsonObject, pid: number): Holding {
  const {
    heapUsed,
    sessions = 0,
    streams,
    subscriptions,
    inFlight,
    pendingAsks,
  } = stats as Record<string, number>;
  const folder = `/proc/${pid}/fd`;
  const files = existsSync(folder) ? readdirSync(folder).length : 0;
  return {
    heap: heapUsed,
    sessions,
    handles: {
      streams: streams ?? 0,
      subscriptions: subscriptions ?? 0,
      inFlight: inFlight ?? 0,
      pendingAsks: pendingAsks ?? 0,
      files,
    },
  };
}

export const everythingHttp: Target = {
  name: "everything-http",
  input: httpInput,
  async start() {
    const fixture = await startReady(measurable("--port", "0", "--legacy-sse"));
    const peer = new HttpPeer(fixture.url);
    const shared = overHttp(peer);
    await peer.refresh();
    return {
      send: shared.send,
      check: async () => (await shared.check()) ?? logProblem(fixture.stderr()),
      async rest() {
        await peer.endAll();
        // What has been cut is seen to be cut a little later.
        await new Promise((resolve) => setTimeout(resolve, 200));
        const { result } = await (await sendModern(peer.url, "tools/call", { name: "stats" })).json();
        return holdingOf((result as { structuredContent: JsonObject }).structuredContent, fixture.pid);
      },
      async close() {
        await peer.endAll().catch(() => {});
        await fixture.stop();
      },
    };
  },
};

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The fixture on a pipe: what it writes is read all the time, and each line has to be a message. */
class StdioPeer {
  readonly pid: number;
  readonly exited: Promise<unknown>;
  readonly #child;
  readonly #answers = new Map<string, JsonObject>();
  #stderr = "";
  #problem: string | undefined;
  #next = 0;

  constructor() {
    const [command, ...args] = measurable("--stdio");
    this.#child = spawn(command, args, { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
    this.pid = this.#child.pid ?? 0;
    this.#child.stdin.on("error", () => {});
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.exited = new Promise((resolve) => this.#child.on("close", resolve));
    void this.exited.then(() => (this.#problem ??= `it ended: ${this.#stderr.slice(-1000)}`));
    readLines(this.#child.stdout, (line) => this.#hear(line));
  }

  async send(input: Input): Promise<undefined> {
    for (const piece of piecesOf(input)) {
      this.#child.stdin.write(piece);
      if (input.cuts.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // A line that was left open must not swallow what comes next.
    this.#child.stdin.write("\n");
    return undefined;
  }

  async request(method: string, params: JsonObject = {}): Promise<JsonObject | undefined> {
    const id = `good-${this.#next++}`;
    this.#child.stdin.write(`${JSON.stringify(modernRequest(id, method, params))}\n`);
    await until(() => this.#answers.has(id) || this.#problem !== undefined, 10 * hangMs).catch(() => {});
    return this.#answers.get(id);
  }

  async check(): Promise<string | undefined> {
    const started = performance.now();
    const answer = await this.request("tools/list");
    const took = Math.round(performance.now() - started);
    if (this.#problem !== undefined) return this.#problem;
    if (answer?.["result"] === undefined)
      return `a good call gets ${JSON.stringify(answer)} after ${took} ms`;
    // One pipe carries everything, so that it waits for what was sent before it.
    return took > 2 * hangMs ? `a good call takes ${took} ms` : logProblem(this.#stderr);
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    this.#child.kill("SIGTERM");
    await this.exited;
  }

  #hear(line: string): void {
    this.#problem ??= messageProblem(line);
    const id = /"id":"(good-\d+)"/.exec(line)?.[1];
    if (id !== undefined) this.#answers.set(id, JSON.parse(line) as JsonObject);
  }
}

export const everythingStdio: Target = {
  name: "everything-stdio",
  input: lineInput,
  async start() {
    const peer = new StdioPeer();
    await peer.request("server/discover");
    return {
      send: (input) => peer.send(input),
      check: () => peer.check(),
      async rest() {
        const answer = await peer.request("tools/call", { name: "stats" });
        const { structuredContent = {} } = (answer?.["result"] ?? {}) as { structuredContent?: JsonObject };
        // The pipe stays, and with it what was begun on it, within the limits of a connection.
        return { ...holdingOf(structuredContent, peer.pid), handles: {} };
      },
      close: () => peer.close(),
    };
  },
};
