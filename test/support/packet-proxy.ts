// A proxy for bytes, such as those of TLS: it flips a bit in what goes by, or resets the connection, where a test says.
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** What happens to the next byte of that number: from the client up to the server, or down. */
export interface PacketFault {
  readonly kind: "flip" | "reset";
  readonly way: "up" | "down";
  readonly at: number;
  /** How long after it the connection breaks too, so that a reader of missing bytes does not wait for long. @default {it does not} */
  readonly brokenAfterMs?: number;
}

export class PacketProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How many faults have happened. */
  happened = 0;
  #fault: PacketFault | undefined;
  #passed = 0;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      this.#join(client, server, "up");
      this.#join(server, client, "down");
    });
  }

  /** Stands before the server at that port, and disturbs nothing yet. */
  static async open(port: number): Promise<PacketProxy> {
    const proxy = new PacketProxy(port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Lets this happen once; undefined for nothing more. Returns whether the last fault is still to come. */
  arm(fault: PacketFault | undefined): boolean {
    const isPending = this.#fault !== undefined;
    this.#fault = fault;
    this.#passed = 0;
    return isPending;
  }

  breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.breakAll();
    this.#server.close();
  }

  #join(from: Socket, to: Socket, way: PacketFault["way"]): void {
    this.#sockets.add(from);
    from.on("error", () => {});
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    from.on("data", (piece: Buffer) => {
      const fault = this.#fault;
      if (fault?.way !== way) return void to.write(piece);
      const at = fault.at - this.#passed;
      this.#passed += piece.length;
      if (at >= piece.length) return void to.write(piece);
      this.#fault = undefined;
      this.happened++;
      if (fault.brokenAfterMs !== undefined) setTimeout(() => from.destroy(), fault.brokenAfterMs);
      if (fault.kind === "flip") {
        piece[at] = (piece[at] ?? 0) ^ 4;
        return void to.write(piece);
      }
      to.write(piece.subarray(0, at), () => to.resetAndDestroy());
      from.resetAndDestroy();
    });
  }
}
