// A TCP proxy between one node and its engine, which cuts it off, holds back what either says, or delays it.
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** How bytes are disturbed on their way. */
interface Disturbance {
  readonly isFrozen: boolean;
  readonly delayMs: number;
}

/** One direction of a connection: passes bytes on in their order, later or never. */
class Pipe {
  readonly #disturbance: () => Disturbance;
  readonly #to: Socket;
  #waiting: { readonly bytes: Buffer; readonly at: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(from: Socket, to: Socket, disturbance: () => Disturbance) {
    this.#disturbance = disturbance;
    this.#to = to;
    from.on("data", (bytes: Buffer) => {
      this.#waiting.push({ bytes, at: performance.now() });
      this.flush();
    });
    from.on("close", () => clearTimeout(this.#timer));
  }

  flush(): void {
    clearTimeout(this.#timer);
    const { isFrozen, delayMs } = this.#disturbance();
    if (isFrozen) return;
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const waitMs = first.at + delayMs - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.flush(), Math.ceil(waitMs));
        return;
      }
      this.#waiting.shift();
      this.#to.write(first.bytes);
    }
  }
}

export class EngineProxy {
  readonly #scheme: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pipes = new Set<Pipe>();
  #target: number;
  #isCut = false;
  /** Which connections let nothing through: none, those that a client of Redis receives messages on, or all. */
  #frozen: "none" | "receiving" | "all" = "none";
  #delayMs = 0;

  private constructor(url: string) {
    this.#scheme = new URL(url).protocol;
    this.#target = Number(new URL(url).port);
    this.#server = createServer((socket) => this.#join(socket));
  }

  /** Stands before the engine at that URL until the test ends. */
  static async open(url: string): Promise<EngineProxy> {
    const proxy = new EngineProxy(url);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => proxy.#close());
    return proxy;
  }

  get url(): string {
    return `${this.#scheme}//127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks the connections, and every new one. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Connections stay open, but nothing gets through, as on a network that drops packets. */
  freeze(): void {
    this.#frozen = "all";
  }

  /** The same for the connections that a client of Redis receives messages on; commands get through. */
  deafen(): void {
    this.#frozen = "receiving";
  }

  /** Every answer and every message of the engine arrives so many milliseconds later. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs;
    for (const pipe of this.#pipes) pipe.flush();
  }

  /** Everything gets through again, also what was held back. */
  heal(): void {
    this.#isCut = false;
    this.#frozen = "none";
    this.slowDown(0);
  }

  /** From now on new connections lead to another engine, and the old ones are broken. */
  lead(url: string): void {
    this.#target = Number(new URL(url).port);
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(node: Socket): void {
    if (this.#isCut) return void node.on("error", () => {}).destroy();
    const engine = connect(this.#target, "127.0.0.1");
    for (const [from, to] of [
      [node, engine],
      [engine, node],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true).on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    let isReceiving = false;
    node.on("data", (bytes: Buffer) => (isReceiving ||= /subscribe/i.test(bytes.toString("latin1"))));
    const isFrozen = (): boolean => this.#frozen === "all" || (this.#frozen === "receiving" && isReceiving);
    const pipes = [
      new Pipe(node, engine, () => ({ isFrozen: isFrozen(), delayMs: 0 })),
      new Pipe(engine, node, () => ({ isFrozen: isFrozen(), delayMs: this.#delayMs })),
    ];
    for (const pipe of pipes) this.#pipes.add(pipe);
    node.on("close", () => pipes.forEach((pipe) => this.#pipes.delete(pipe)));
  }

  #close(): void {
    this.#server.close();
    this.cut();
  }
}
