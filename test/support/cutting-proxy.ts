// A proxy that cuts connections at bytes that a seed chooses: in requests, in the heads of responses, in and between events.
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Random } from "../fuzz/random.ts";

type Direction = "up" | "down";

/** Where an exchange is cut: after so many of something that has gone by. */
interface Cut {
  readonly after: "request bytes" | "head bytes" | "body bytes" | "events" | "carriage returns";
  readonly count: number;
  /** What each side sees: a reset, an end in good order, or for the server nothing until so many milliseconds later. */
  readonly how: "reset" | "end" | number;
}

const farEnough = [
  { after: "body bytes", most: 1500 },
  { after: "events", most: 4 },
  { after: "carriage returns", most: 16 },
] as const;
const anywhere = [
  { after: "request bytes", most: 600 },
  { after: "head bytes", most: 250 },
  ...farEnough,
] as const;

/** One request and its response, as far as they have gone by. */
class Passing {
  readonly request: string;
  cut: Cut | undefined;
  readonly seen: Record<Cut["after"], number> = {
    "request bytes": 0,
    "head bytes": 0,
    "body bytes": 0,
    events: 0,
    "carriage returns": 0,
  };
  /** What the client got of the response. */
  text = "";
  hasHead = false;

  constructor(request: string) {
    this.request = request;
  }

  /** The event id from which a GET resumes; undefined for another method. */
  get place(): string | undefined {
    if (!this.request.startsWith("GET ")) return undefined;
    return /last-event-id: (\S+)/i.exec(this.request)?.[1] ?? "";
  }

  /** How many of these bytes pass before the cut; undefined when all do. */
  pass(bytes: string, direction: Direction, mayCut: boolean): number | undefined {
    for (const [at, byte] of [...bytes].entries()) {
      if (mayCut && this.#isReached) return at;
      this.#count(byte, direction);
    }
    return mayCut && this.#isReached ? bytes.length : undefined;
  }

  get #isReached(): boolean {
    if (this.cut === undefined || this.seen[this.cut.after] < this.cut.count) return false;
    return this.hasHead || this.cut.after === "request bytes" || this.cut.after === "head bytes";
  }

  #count(byte: string, direction: Direction): void {
    if (direction === "up") return void this.seen["request bytes"]++;
    this.seen[this.hasHead ? "body bytes" : "head bytes"]++;
    if (this.hasHead && byte === "\r") this.seen["carriage returns"]++;
    this.text += byte;
    if (this.text.endsWith("\r\n\r\n")) this.hasHead = true;
    if (this.text.endsWith("\n\n")) this.seen.events++;
  }
}

export interface ProxyOptions {
  readonly seed: number;
  /** After a GET that got no head of a response, the next one gets it: some clients give up after two in a row. */
  readonly sparesHeads: boolean;
}

export class CuttingProxy {
  readonly #random: Random;
  readonly #sparesHeads: boolean;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #passings: Passing[] = [];
  /** The event ids of clients whose next GET gets its head. */
  readonly #spared = new Set<string>();
  #isCalm = true;
  /** How many connections have been cut. */
  cuts = 0;

  private constructor(target: number, { seed, sparesHeads }: ProxyOptions) {
    this.#random = new Random(seed);
    this.#sparesHeads = sparesHeads;
    this.#server = createServer((client) => this.#join(client, connect(target, "127.0.0.1")));
  }

  /** Stands before the server at that URL, and cuts nothing yet. */
  static async open(url: string, options: ProxyOptions): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(Number(new URL(url).port), options);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What has gone by: each request, and what its client got of the response. */
  get transcript(): string {
    return this.#passings
      .map(
        ({ request, text, cut }) =>
          `> ${request}\n< ${text.replaceAll("\r\n", "\n")}\n| ${JSON.stringify(cut)}`,
      )
      .join("\n");
  }

  rage(): void {
    this.#isCalm = false;
  }

  /** Cuts nothing more. */
  calm(): void {
    this.#isCalm = true;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, server: Socket): void {
    let passing: Passing | undefined;
    const forward = (from: Socket, to: Socket, direction: Direction): void => {
      this.#sockets.add(from);
      from.on("close", () => this.#sockets.delete(from));
      from.on("error", () => {});
      from.setEncoding("latin1").on("data", (bytes: unknown) => {
        const text = String(bytes);
        if (direction === "up" && /^(GET|POST|DELETE) /.test(text)) passing = this.#begin(text);
        const cutAt = passing?.pass(text, direction, !this.#isCalm);
        if (cutAt === undefined) return void to.write(text, "latin1");
        to.write(text.slice(0, cutAt), "latin1");
        this.#cut(passing as Passing, client, server);
      });
      from.on("end", () => to.end());
      from.on("close", () => to.destroy());
    };
    forward(client, server, "up");
    forward(server, client, "down");
  }

  #begin(request: string): Passing {
    const passing = new Passing(request);
    const { place } = passing;
    const isSpared = place !== undefined && this.#spared.delete(place);
    const cut = this.#draw(isSpared ? farEnough : anywhere);
    if (place !== undefined || this.#random.chance(0.7)) passing.cut = cut;
    this.#passings.push(passing);
    return passing;
  }

  #draw(places: readonly { readonly after: Cut["after"]; readonly most: number }[]): Cut {
    const random = this.#random;
    const { after, most } = random.pick(places);
    const count = random.below(most + 1);
    const how = random.pick(["reset", "end", random.below(100)] as const);
    return { after, count, how };
  }

  #cut(passing: Passing, client: Socket, server: Socket): void {
    const how = passing.cut?.how;
    this.cuts++;
    for (const socket of [client, server])
      socket.removeAllListeners("data").removeAllListeners("end").resume();
    const { place, hasHead } = passing;
    if (this.#sparesHeads && place !== undefined && !hasHead) this.#spared.add(place);
    if (how === "end") {
      client.end();
      server.end();
    } else if (how === "reset") {
      client.resetAndDestroy();
      server.resetAndDestroy();
    } else {
      client.removeAllListeners("close");
      client.resetAndDestroy();
      setTimeout(() => server.destroy(), how);
    }
  }
}
