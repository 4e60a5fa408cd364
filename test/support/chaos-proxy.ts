// A proxy for HTTP that a seed makes unreliable: it cuts, halts, delays, refuses and truncates what goes by, and counts it.
import { type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Random } from "../fuzz/random.ts";

/** A connection that breaks, where, counted in bytes, and how. */
interface Cut {
  readonly kind: "request cut" | "head cut" | "body cut";
  readonly at: number;
  readonly isReset: boolean;
}

/** What can happen to an exchange. */
export type Fault =
  | Cut
  /** The reply ends in good order, but too early. */
  | { readonly kind: "truncated"; readonly at: number }
  /** The connection goes silent without closing, before the head of the reply if `at` is negative. */
  | { readonly kind: "half-open"; readonly at: number; readonly heldMs: number }
  /** The connection breaks after a time, whatever has gone by. */
  | { readonly kind: "aged"; readonly afterMs: number }
  /** The server does not get the request. */
  | { readonly kind: "refused"; readonly status: 429 | 503 }
  /** The server may get the request, but its reply never arrives. */
  | { readonly kind: "gateway"; readonly status: 502 | 503 | 504; readonly isForwarded: boolean }
  /** The client gets one reply more, before its own or so long after it. */
  | { readonly kind: "surplus"; readonly reply: string; readonly afterMs: number | undefined }
  | { readonly kind: "delayed"; readonly beforeMs: number };

export type FaultKind = Fault["kind"];

/** One request of a client. */
export interface Passed {
  /** The JSON-RPC method, or `response`; for a request without a body the method of HTTP. */
  readonly what: string;
  readonly at: number;
}

export interface ChaosProxyOptions {
  readonly seed: number;
  /** The probability that something happens to an exchange. */
  readonly rate: number;
  /** Takes the ids out of events, so that no stream can be resumed. */
  readonly dropsIds?: boolean;
  /** Returns what takes the pieces of a reply as the server sends them, whatever becomes of them. */
  readonly reader?: () => (piece: string) => void;
}

interface Request {
  readonly text: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export class ChaosProxy {
  readonly passed: Passed[] = [];
  readonly faults = new Map<FaultKind, number>();
  /** Decides instead of the seed; for tests in which one thing happens. */
  decide: ((what: string) => Fault | undefined) | undefined;
  readonly #random: Random;
  readonly #options: ChaosProxyOptions;
  readonly #target: number;
  /** The open connections of clients, with what each carried last. */
  readonly #sockets = new Map<Socket, Exchange | undefined>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #server: Server;
  #port = 0;
  #isCalm = true;

  private constructor(target: number, options: ChaosProxyOptions) {
    this.#random = new Random(options.seed);
    this.#options = options;
    this.#target = target;
    this.#server = createServer((client) => this.#serve(client));
  }

  /** Stands before the server at that URL, and disturbs nothing yet. */
  static async open(url: string, options: ChaosProxyOptions): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(Number(new URL(url).port), options);
    await proxy.up();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** How many exchanges were broken; delays do not count. */
  get cuts(): number {
    return [...this.faults].reduce((sum, [kind, count]) => (kind === "delayed" ? sum : sum + count), 0);
  }

  /** What the open connections of clients carried last. */
  get connections(): string[] {
    return [...this.#sockets.values()].map((exchange) => exchange?.shown ?? "nothing");
  }

  rage(): void {
    this.#isCalm = false;
  }

  calm(): void {
    this.#isCalm = true;
  }

  /** Breaks every connection at once, as a change of network does. */
  breakAll(): void {
    for (const socket of this.#sockets.keys()) reset(socket);
  }

  /** Refuses connections until it is `up` again, and breaks those that are open. */
  async down(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.breakAll();
    await closed;
  }

  async up(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.calm();
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#server.listening) await this.down();
  }

  #serve(client: Socket): void {
    this.#sockets.set(client, undefined);
    let waiting = "";
    let current: Exchange | undefined;
    client
      .on("error", () => {})
      .on("close", () => {
        this.#sockets.delete(client);
        current?.end();
      });
    client.setEncoding("latin1").on("data", (bytes: unknown) => {
      waiting += String(bytes);
      const request = readRequest(waiting);
      if (!request) return;
      waiting = waiting.slice(request.text.length);
      const what = whatOf(request);
      this.passed.push({ what, at: performance.now() });
      const fault = this.decide ? this.decide(what) : this.#draw(request.method === "GET");
      current = new Exchange(this, client, request, fault, this.#options);
      this.#sockets.set(client, current);
      current.start(this.#target);
    });
  }

  /** Counts a fault that has happened. */
  happened({ kind }: Fault): void {
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
  }

  later(afterMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, afterMs);
    this.#timers.add(timer);
  }

  #draw(isStream: boolean): Fault | undefined {
    const random = this.#random;
    if (this.#isCalm || !random.chance(isStream ? 0.8 : this.#options.rate)) return undefined;
    const at = random.below(random.pick([10, 150, 600, isStream ? 2000 : 300]));
    const isReset = random.chance(0.6);
    switch (random.below(isStream ? 8 : 12)) {
      case 0:
        return { kind: "request cut", at: random.below(500), isReset };
      case 1:
        return { kind: "head cut", at: random.below(150), isReset };
      case 2:
      case 3:
        return { kind: "body cut", at, isReset };
      case 4:
        return { kind: "truncated", at };
      case 5:
        return { kind: "half-open", at: random.below(400) - 100, heldMs: 20 + random.below(200) };
      case 6:
      case 7:
        return { kind: "aged", afterMs: random.below(60) };
      case 8:
        return { kind: "refused", status: random.pick([429, 503]) };
      case 9:
        return { kind: "gateway", status: random.pick([502, 503, 504]), isForwarded: random.chance(0.7) };
      case 10: {
        const afterMs = random.chance(0.5) ? undefined : random.below(6);
        return { kind: "surplus", reply: random.pick(surplusReplies), afterMs };
      }
      default:
        return { kind: "delayed", beforeMs: random.below(40) };
    }
  }
}

/** One request and its reply, on their way through the proxy. */
class Exchange {
  readonly #proxy: ChaosProxy;
  readonly #client: Socket;
  readonly #request: Request;
  readonly #fault: Fault | undefined;
  readonly #options: ChaosProxyOptions;
  #upstream: { destroy(): unknown } | undefined;
  /** How many bytes of the body have passed. */
  #passed = 0;
  #isOver = false;

  constructor(
    proxy: ChaosProxy,
    client: Socket,
    request: Request,
    fault: Fault | undefined,
    options: ChaosProxyOptions,
  ) {
    this.#proxy = proxy;
    this.#client = client;
    this.#request = request;
    this.#fault = fault;
    this.#options = options;
  }

  get shown(): string {
    const state = this.#isOver ? "over" : `after ${this.#passed} bytes`;
    return `${whatOf(this.#request)} (${JSON.stringify(this.#fault)}, ${state})`;
  }

  start(target: number): void {
    const fault = this.#fault;
    if (fault?.kind === "request cut") return this.#cutRequest(target, fault);
    if (fault?.kind === "delayed") {
      this.#proxy.happened(fault);
      return this.#proxy.later(fault.beforeMs, () => this.#forward(target));
    }
    if (fault?.kind === "refused" || (fault?.kind === "gateway" && !fault.isForwarded)) {
      return this.#answer(fault.status);
    }
    if (fault?.kind === "aged") this.#proxy.later(fault.afterMs, () => this.#break(true));
    this.#forward(target);
  }

  /** The server gets a part of the request, and then no more. */
  #cutRequest(target: number, { at, isReset }: Cut): void {
    const { text } = this.#request;
    const server = connect(target, "127.0.0.1", () =>
      server.write(text.slice(0, Math.min(at, text.length - 1)), "latin1", () => {
        if (isReset) reset(server);
        else server.destroy();
        this.#break(isReset);
      }),
    );
    server.on("error", () => this.#break(isReset));
    this.#upstream = server;
  }

  #answer(status: number): void {
    if (this.#isOver) return;
    this.#happened();
    const retryAfter = this.#fault?.kind === "refused" ? "retry-after: 0\r\n" : "";
    this.#client.write(`HTTP/1.1 ${status} Trouble\r\ncontent-length: 4\r\n${retryAfter}\r\nbusy`);
    this.end();
  }

  #forward(port: number): void {
    if (this.#isOver) return;
    const { method, path, headers, body } = this.#request;
    const upstream = httpRequest({ port, host: "127.0.0.1", method, path, headers, agent: false });
    this.#upstream = upstream;
    upstream.on("error", () => this.#break(true));
    upstream.on("response", (reply) => this.#reply(reply));
    upstream.end(body, "latin1");
  }

  #reply(reply: IncomingMessage): void {
    if (this.#isOver) return;
    const fault = this.#fault;
    if (fault?.kind === "gateway") return this.#answer(fault.status);
    const head = headOf(reply);
    if (fault?.kind === "head cut") {
      this.#client.write(head.slice(0, fault.at));
      return this.#break(fault.isReset);
    }
    if (fault?.kind === "half-open" && fault.at < 0) return this.#halt(fault);
    if (fault?.kind === "surplus") this.#add(fault);
    this.#client.write(head);
    reply.setEncoding("latin1");
    const { dropsIds, reader } = this.#options;
    const read = reader?.();
    reply.on("data", (piece: string) => {
      read?.(piece);
      this.#pass(dropsIds ? piece.replaceAll(/^id:.*\n/gm, "") : piece);
    });
    reply.on("end", () => {
      if (!this.#isOver && reply.statusCode !== 204) this.#client.write("0\r\n\r\n");
      this.#client.emit("finished");
      this.end();
    });
    reply.on("error", () => this.#break(true));
    reply.on("close", () => this.#break(true));
  }

  #pass(piece: string): void {
    const fault = this.#fault;
    if (this.#isOver || piece === "") return;
    const at = fault && "at" in fault ? fault.at : Number.POSITIVE_INFINITY;
    const now = piece.slice(0, Math.max(0, at - this.#passed));
    this.#passed += piece.length;
    if (now !== "") this.#client.write(`${now.length.toString(16)}\r\n${now}\r\n`, "latin1");
    if (now.length === piece.length || !fault) return;
    if (fault.kind === "body cut") this.#break(fault.isReset);
    else if (fault.kind === "truncated") {
      this.#happened();
      this.#client.write("0\r\n\r\n");
      this.end();
    } else if (fault.kind === "half-open") this.#halt(fault);
  }

  #add({ reply, afterMs }: Fault & { kind: "surplus" }): void {
    const write = (): void => {
      if (this.#client.writable) this.#client.write(reply);
    };
    this.#happened();
    if (afterMs === undefined) write();
    else this.#client.once("finished", () => this.#proxy.later(afterMs, write));
  }

  #halt({ heldMs }: Fault & { kind: "half-open" }): void {
    this.#happened();
    this.#isOver = true;
    this.#proxy.later(heldMs, () => {
      reset(this.#client);
      this.#upstream?.destroy();
    });
  }

  #break(isReset: boolean): void {
    if (this.#isOver) return;
    this.#happened();
    this.end();
    if (isReset) reset(this.#client);
    else this.#client.end();
  }

  #happened(): void {
    if (this.#fault) this.#proxy.happened(this.#fault);
  }

  end(): void {
    this.#isOver = true;
    this.#upstream?.destroy();
  }
}

const earlier = '{"jsonrpc":"2.0","id":1,"result":{}}';
const surplusReplies = [
  "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${earlier.length}\r\n\r\n${earlier}`,
];

/** Breaks a connection. One that its peer has ended cannot be reset: Node would keep it. */
function reset(socket: Socket): void {
  if (socket.readableEnded || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function readRequest(text: string): Request | undefined {
  const headLength = text.indexOf("\r\n\r\n") + 4;
  if (headLength < 4) return undefined;
  const [start = "", ...lines] = text.slice(0, headLength - 4).split("\r\n");
  const [method = "", path = ""] = start.split(" ");
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const length = Number(headers["content-length"] ?? 0);
  if (text.length < headLength + length) return undefined;
  const whole = text.slice(0, headLength + length);
  return { text: whole, method, path, headers, body: whole.slice(headLength) };
}

function whatOf({ method, body }: Request): string {
  if (body === "") return method;
  return (JSON.parse(body) as { method?: string }).method ?? "response";
}

const framing: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
]);

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!framing.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  if (statusCode !== 204) lines.push("transfer-encoding: chunked");
  return `${lines.join("\r\n")}\r\n\r\n`;
}
