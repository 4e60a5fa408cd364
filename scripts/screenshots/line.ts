// A line between a client and a server, which can be cut.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class Line {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(port: number) {
    this.#server = createServer((near) => {
      if (this.#isCut) near.destroy();
      else this.#join(near, connect(port, "127.0.0.1"));
    });
  }

  /** Opens a line to the server at that URL, and returns the URL at its near end. */
  static async open(to: string): Promise<{ line: Line; url: string }> {
    const url = new URL(to);
    const line = new Line(Number(url.port));
    line.#server.listen(0, "127.0.0.1");
    await once(line.#server, "listening");
    url.port = String((line.#server.address() as AddressInfo).port);
    return { line, url: url.href };
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
