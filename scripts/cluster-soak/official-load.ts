// The official clients as they are shipped: they resume as they do, and give up as they do.
import { setTimeout as sleep } from "node:timers/promises";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Message } from "../cluster/event-client.ts";
import { isGap, Lanes, type Listening } from "./load.ts";

const info = { name: "soak", version: "1.0.0" };

/** Milliseconds for one call; one whose connection breaks before its first event never ends. */
const callMs = 8000;

interface Official {
  readonly session: string;
  push(args: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

type Hear = (message: Message) => void;
type Connect = (url: string, hear: Hear, givesUp: () => void) => Promise<Official>;

/** What both versions have. */
interface Common {
  fallbackNotificationHandler?: ((notification: never) => Promise<void>) | undefined;
}

function listenTo(client: Common, hear: Hear, givesUp: () => void): void {
  client.fallbackNotificationHandler = async (notification) => hear(notification as Message);
  const onerror = ({ message }: Error): void => {
    if (message.includes("Maximum reconnection attempts")) givesUp();
  };
  Object.assign(client, { onerror });
}

export const officialClients: Readonly<Record<string, Connect>> = {
  async "@modelcontextprotocol/sdk"(url, hear, givesUp) {
    const client = new ClientV1(info);
    const transport = new HttpV1(new URL(url));
    listenTo(client as Common, hear, givesUp);
    await client.connect(transport as never);
    return {
      session: transport.sessionId ?? "",
      push: (args) => client.callTool({ name: "push", arguments: args }, undefined, { timeout: callMs }),
      close: () => client.close(),
    };
  },
  async "@modelcontextprotocol/client"(url, hear, givesUp) {
    const client = new ClientV2(info);
    const transport = new HttpV2(new URL(url));
    listenTo(client as Common, hear, givesUp);
    await client.connect(transport as never);
    return {
      session: transport.sessionId ?? "",
      push: (args) => client.callTool({ name: "push", arguments: args }, { timeout: callMs }),
      close: () => client.close(),
    };
  },
};

export class OfficialLoad implements Listening {
  readonly faults: string[] = [];
  readonly sessions: string[] = [];
  gaps = 0;
  /** Sessions whose client gave its stream up: what is pushed to them waits for ever. */
  readonly #givenUp = new Set<string>();
  readonly #connect: Connect;
  readonly #url: string;
  readonly #lanes = new Lanes();
  #isOver = false;
  #lastLane = 0;
  #current: Official | undefined;

  constructor(name: string, url: string) {
    this.#connect = officialClients[name] as Connect;
    this.#url = url;
  }

  /** How often a client gave its stream up. */
  get givenUp(): number {
    return this.#givenUp.size;
  }

  heard(lane: string): readonly number[] {
    return this.#lanes.heard(lane);
  }

  isNoticed(session: string): boolean {
    return this.#givenUp.has(session);
  }

  /** Pushes numbers to itself until {@link finish}; begins again with another session when the client gives up. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      const client = await this.#open().catch(() => undefined);
      if (client === undefined) await sleep(100);
      else await this.#use(client);
    }
  }

  finish(): void {
    this.#isOver = true;
  }

  async close(): Promise<void> {
    await this.#current?.close().catch(() => {});
  }

  async #open(): Promise<Official> {
    let session = "";
    const hear = (message: Message): void => {
      if (isGap(message)) this.gaps++;
      this.#lanes.hear(message);
    };
    const client = await this.#connect(this.#url, hear, () => this.#givenUp.add(session));
    ({ session } = client);
    this.sessions.push(session);
    this.#current = client;
    return client;
  }

  async #use(client: Official): Promise<void> {
    const { session } = client;
    // Its GET stream opens after it has connected, and may fail like every request.
    while (!this.#isOver && !this.#givenUp.has(session)) {
      const lane = `official${++this.#lastLane}`;
      await client.push({ session, lane, count: 20, everyMs: 20 }).catch(() => sleep(50));
    }
    if (this.#givenUp.has(session)) await client.close().catch(() => {});
  }
}
