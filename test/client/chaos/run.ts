// One client behind a proxy that breaks things, beside what the server knows: every violation of what the client promises.
import {
  CallTimeout,
  type ClientEvent,
  connect,
  ConnectionLost,
  HttpFailure,
  InvalidResponse,
  type McpClient,
  RpcRejection,
  TaskEnded,
} from "halyard/client";
import { connect as connectTo } from "node:net";
import { createServer } from "node:tls";
import { Random } from "../../fuzz/random.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { ChaosProxy } from "../../support/chaos-proxy.ts";
import { PacketProxy } from "../../support/packet-proxy.ts";
import { until } from "../../support/turns.ts";
import { Announced } from "./announced.ts";
import { repeatable, Subject, toolNames } from "./subject.ts";
import { Watch } from "./watch.ts";

export interface ChaosOptions {
  readonly seed: number;
  readonly revision: string;
  /** How many exchanges are broken. */
  readonly cuts: number;
  /** Whether the ids of events are taken out. */
  readonly dropsIds: boolean;
  /** Whether the client speaks TLS, in which bits flip. */
  readonly hasTls?: boolean;
  /** What sends the requests, instead of `node:http`. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface ChaosReport {
  readonly cuts: Readonly<Record<string, number>>;
  readonly restarts: number;
  /** The outcomes of the calls. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly retries: number;
  readonly reopened: number;
  readonly changes: number;
  readonly gaps: number;
  readonly client: WeakRef<McpClient>;
  /** Everything that the client promises and did not keep. */
  readonly violations: readonly string[];
}

const maxTimeMs = 20_000;
/** How long an outcome may come late: only a machine that halts for so long makes it fail. */
const graceMs = 60_000;
/** How long a run may take, and the cleanup after it. */
const phasesMs = 180_000;
const cleanupMs = 15_000;
/** The timeout of a test: long enough for a run that hangs to report what is still open. */
export const maxRunMs: number = phasesMs + cleanupMs + 5000;
const maxAtOnce = 8;
const late = Symbol("late");

class Run {
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #subject = new Subject();
  readonly #announced = new Announced();
  readonly #outcomes: Record<string, number> = {};
  readonly #violations: string[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #endings: Promise<void>[] = [];
  /** The watches that are being closed. */
  readonly #closing = new Set<Watch>();
  /** What each call said, to be compared with what the server knows when all is over. */
  readonly #said: (() => void)[] = [];
  readonly #counts = { retry: 0, ready: 0, attempts: 0, changes: 0, gaps: 0 };
  #phase: "rage" | "calm" | "recovery" | "close" | "cleanup" = "rage";
  #packets: Packets | undefined;
  #keys = 0;
  #watches = 0;

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#random = new Random(options.seed + 1);
  }

  async run(): Promise<ChaosReport> {
    const { seed, revision, dropsIds, fetch } = this.#options;
    const reader = (): ((piece: string) => void) => this.#announced.reader();
    const proxy = await ChaosProxy.open(await this.#subject.open(), { seed, rate: 0.35, dropsIds, reader });
    if (this.#options.hasTls) this.#packets = await Packets.open(proxy.url);
    const client = await connect(this.#packets?.url ?? proxy.url, {
      revision,
      timeoutMs: 5000,
      maxTimeMs,
      connectTimeoutMs: 5000,
      ...(fetch && { fetch }),
      backoff: { firstMs: 2, maxMs: 20, maxAttempts: 200 },
      cache: false,
      onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
      observe: (event) => this.#observe(event),
    });
    try {
      if ((await within(phasesMs, this.#runPhases(client, proxy))) === late) this.#reportHang(proxy);
      this.#checkRequests(proxy);
      return this.#report(proxy, new WeakRef(client));
    } finally {
      this.#phase = "cleanup";
      if ((await within(cleanupMs, this.#cleanUp(client, proxy))) === late) this.#reportHang(proxy);
    }
  }

  async #runPhases(client: McpClient, proxy: ChaosProxy): Promise<void> {
    proxy.rage();
    await this.#rage(client, proxy);
    proxy.calm();
    this.#packets?.calm();
    this.#phase = "calm";
    await Promise.all([...this.#running, ...this.#endings]);
    this.#phase = "recovery";
    await this.#recover(client);
    for (const check of this.#said) check();
    this.#phase = "close";
    await client.close();
    await until(() => proxy.connections.length === 0, graceMs).catch(() =>
      this.#violations.push(`connections stay open: ${proxy.connections.join(", ")}`),
    );
  }

  async #cleanUp(client: McpClient, proxy: ChaosProxy): Promise<void> {
    await client.close();
    this.#packets?.close();
    await proxy.close();
    await this.#subject.close();
  }

  /** Reports the phase that does not end, and what is still open. */
  #reportHang({ connections }: ChaosProxy): void {
    const watches = [...this.#closing].map(({ shown }) => shown);
    const open = [`${this.#running.size} calls`, ...watches, ...connections].join(", ");
    this.#violations.push(`${this.#phase} does not end, with these open: ${open}`);
  }

  #observe(event: ClientEvent): void {
    if (event.type === "retry") this.#counts.retry++;
    if (event.type === "state" && event.state.name === "ready") this.#counts.ready++;
    if (event.type === "request") this.#counts.attempts += event.attempts;
  }

  async #rage(client: McpClient, proxy: ChaosProxy): Promise<void> {
    const random = this.#random;
    const watches: (Watch | undefined)[] = [undefined, undefined];
    while (this.#phase === "rage" && proxy.cuts < this.#options.cuts) {
      const at = random.below(watches.length);
      const watch = watches[at];
      if (watch === undefined || watch.hasFailed) watches[at] = this.#watch(client);
      else if (watch.isOpen && random.chance(0.25)) await watch.publish();
      if (watch?.isExhausted) {
        watches[at] = undefined;
        this.#endings.push(this.#end(watch));
      }
      if (random.chance(0.1)) this.#subject.changeTools();
      if (this.#packets && random.chance(0.05)) this.#packets.flip(random);
      if (random.chance(0.01)) this.#subject.restart();
      if (this.#running.size < maxAtOnce) this.#begin(this.#act(client));
      await new Promise((resolve) => setTimeout(resolve, random.below(4)));
    }
    for (const watch of watches) if (watch) this.#endings.push(this.#end(watch));
  }

  /** Lets something run beside the rest, which must end within the time of a call. */
  #begin(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  #watch(client: McpClient): Watch {
    const watch = new Watch(this.#subject, this.#announced, ++this.#watches);
    this.#begin(this.#settle("listen", watch.open(client)));
    return watch;
  }

  async #end(watch: Watch): Promise<void> {
    this.#closing.add(watch);
    await watch.close(graceMs);
    this.#closing.delete(watch);
    this.#violations.push(...watch.wrong);
    this.#counts.changes += watch.changes;
    this.#counts.gaps += watch.gaps;
  }

  #act(client: McpClient): Promise<void> {
    const random = this.#random;
    const name = random.pick([...toolNames, "list", "read", "prompt"] as const);
    const key = `${name}-${++this.#keys}`;
    if (name === "list") return this.#settle(name, client.listTools());
    if (name === "read") return this.#settle(name, client.readResource(`note:///${key}`));
    if (name === "prompt") return this.#settle(name, client.getPrompt("greet"));
    const streams = random.chance(0.5);
    const options = random.chance(0.1) ? { timeoutMs: 1 + random.below(20) } : {};
    const call = client.callTool(name, { key, streams }, options);
    return this.#settle(name, call, (result, error) => this.#checkCall(name, key, result, error));
  }

  /** Waits for the one outcome of a call, and counts it. */
  async #settle<T>(
    name: string,
    call: Promise<T>,
    check: (result: T | undefined, error: unknown) => void = () => {},
  ): Promise<void> {
    const settled = call.then(
      (result) => ({ result, error: undefined }),
      (error: unknown) => ({ result: undefined, error }),
    );
    const outcome = await within(maxTimeMs + graceMs, settled);
    if (outcome === late) return void this.#violations.push(`${name} has no outcome`);
    const kind = outcome.error === undefined ? "result" : kindOf(outcome.error);
    const counted = `${name}: ${kind}`;
    this.#outcomes[counted] = (this.#outcomes[counted] ?? 0) + 1;
    if (kind.startsWith("unexpected")) this.#violations.push(`${name}: ${kind}`);
    this.#said.push(() => check(outcome.result, outcome.error));
  }

  /** Compares what a call said with how often the server ran it. */
  #checkCall(name: string, key: string, result: unknown, error: unknown): void {
    const runs = this.#subject.runsOf(key);
    const wrong = (problem: string): void =>
      void this.#violations.push(`${key} ${problem}: it ran ${runs} times: ${String(error ?? "result")}`);
    if (result !== undefined) {
      const { content } = result as { content: [{ text?: string }] };
      if (runs < 1) wrong("has a result");
      if (content[0].text !== key) wrong(`has the result ${JSON.stringify(content)}`);
    }
    if (runs > (repeatable.has(name) ? 3 : 1)) wrong("ran too often");
    if (error instanceof ConnectionLost && !error.mayHaveRun && runs > 0) wrong("is said not to have run");
    // A reply without a response, such as 202, says nothing about what ran.
    const isRefused = error instanceof HttpFailure && error.status >= 300;
    if (isRefused && !repeatable.has(name) && runs > 0) wrong("was refused");
  }

  /** The client is as new: a call succeeds, and its state says so. */
  async #recover(client: McpClient): Promise<void> {
    const works = async (): Promise<boolean> => {
      await client.callTool("look", { key: "last" });
      return client.state.name === "ready";
    };
    await until(() => works().catch(() => false), graceMs).catch(() =>
      this.#violations.push(`the client does not recover: ${client.state.name}, ${client.state.reason}`),
    );
  }

  /** No storm: all requests are attempts of calls, handshakes and streams, of which none comes without a reason. */
  #checkRequests({ passed, cuts }: ChaosProxy): void {
    const { restarts } = this.#subject;
    const handshake = new Set([
      "initialize",
      "server/discover",
      "notifications/initialized",
      "GET",
      "DELETE",
      "notifications/cancelled",
      "response",
    ]);
    const others = passed.filter(({ what }) => handshake.has(what)).length;
    const calls = passed.length - others;
    if (calls > this.#counts.attempts) {
      this.#violations.push(`${calls} requests for ${this.#counts.attempts} attempts`);
    }
    const most = 20 + 4 * (cuts + restarts + (this.#packets?.flipped ?? 0));
    if (others > most) this.#violations.push(`${others} handshakes, streams and farewells for ${cuts} cuts`);
  }

  #report({ faults, passed }: ChaosProxy, client: WeakRef<McpClient>): ChaosReport {
    const { retry, ready, changes, gaps } = this.#counts;
    return {
      cuts: { ...Object.fromEntries(faults), ...(this.#packets && { flipped: this.#packets.flipped }) },
      restarts: this.#subject.restarts,
      outcomes: this.#outcomes,
      requests: passed.length,
      retries: retry,
      reopened: ready - 1,
      changes,
      gaps,
      client,
      violations: this.#violations,
    };
  }
}

/** TLS before a server without, in which bits flip. */
class Packets {
  readonly #proxy: PacketProxy;
  readonly #close: () => void;

  private constructor(proxy: PacketProxy, close: () => void) {
    this.#proxy = proxy;
    this.#close = close;
  }

  static async open(url: string): Promise<Packets> {
    const port = Number(new URL(url).port);
    const server = createServer(makeCertificate(), (outer) => {
      const inner = connectTo(port, "127.0.0.1");
      outer.on("error", () => inner.destroy()).on("close", () => inner.destroy());
      inner.on("error", () => outer.destroy()).on("close", () => outer.destroy());
      outer.pipe(inner).pipe(outer);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const trusted = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    return new Packets(await PacketProxy.open((server.address() as { port: number }).port), () => {
      server.close();
      if (trusted === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = trusted;
    });
  }

  get url(): string {
    return `https://127.0.0.1:${this.#proxy.port}/mcp`;
  }

  get flipped(): number {
    return this.#proxy.happened;
  }

  flip(random: Random): void {
    const at = random.below(random.pick([10, 300, 2000]));
    this.#proxy.arm({
      kind: random.chance(0.8) ? "flip" : "reset",
      way: random.pick(["up", "down"]),
      at,
      brokenAfterMs: 100,
    });
  }

  calm(): void {
    this.#proxy.arm(undefined);
  }

  close(): void {
    this.#proxy.close();
    this.#close();
  }
}

/** Returns what `work` resolves with, or `late` if that takes longer than `timeMs`. */
async function within<T>(timeMs: number, work: Promise<T>): Promise<T | typeof late> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), timeMs);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}

/** How a call failed: one of the errors that a client of this server has to expect, or none of these. */
function kindOf(error: unknown): string {
  if (error instanceof ConnectionLost) return `lost, ${error.mayHaveRun ? "may have run" : "did not run"}`;
  if (error instanceof CallTimeout) return error.limit;
  if (error instanceof HttpFailure) return `answered ${error.status}`;
  if (error instanceof InvalidResponse) return "invalid response";
  if (error instanceof TaskEnded) return `task ${error.reason}`;
  if (error instanceof RpcRejection) return `error ${error.code}`;
  return `unexpected ${String(error)}`;
}

export function chaos(options: ChaosOptions): Promise<ChaosReport> {
  return new Run(options).run();
}
