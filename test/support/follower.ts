// A client of a session that keeps every message it gets, and comes back after the last event it has seen, on any node.
import type { JsonObject, McpServer } from "halyard";
import { expect } from "vitest";
import { clientAt } from "./cluster.ts";
import type { EventReply } from "./event-reply.ts";
import { logDataOf, SessionClient } from "./sessions.ts";
import { until } from "./turns.ts";

/** One of the nodes that serve the session. */
interface Place {
  readonly url: string;
  readonly server: McpServer;
}

export class Follower {
  readonly received: JsonObject[] = [];
  /** The numbers up to this one may be missing: the client was told so. */
  toldUpTo = 0;
  /** How many numbers were pushed to it. */
  sent = 0;
  /** How many open streams were cut. */
  cuts = 0;
  readonly #places: readonly Place[];
  readonly #client: SessionClient;
  #stream: EventReply | undefined;
  #lastEventId: string | undefined;
  /** Streams that opened at the same moment, and all that were opened so. */
  readonly #twins: EventReply[] = [];
  readonly #left: EventReply[] = [];

  private constructor(places: readonly Place[], client: SessionClient) {
    this.#places = places;
    this.#client = client;
  }

  /** Opens a session, and no stream. */
  static async open(places: readonly Place[], at = 0): Promise<Follower> {
    return new Follower(places, await SessionClient.open(places[at] as Place));
  }

  /** Opens a session and its GET stream. */
  static async begin(places: readonly Place[], at = 0): Promise<Follower> {
    const follower = await Follower.open(places, at);
    await follower.resume(at);
    await follower.hasBegun();
    return follower;
  }

  /** Resolves once it has seen an event that it can come back after. */
  hasBegun(): Promise<void> {
    return until(() => this.#lastEventId !== undefined);
  }

  get numbers(): unknown[] {
    return logDataOf(this.received);
  }

  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  get isConnected(): boolean {
    return this.#stream !== undefined && this.#stream.end === undefined;
  }

  get isAnswered(): boolean {
    return this.received.some(({ result }) => result !== undefined);
  }

  at(place = 0): SessionClient {
    return clientAt(this.#places[place] as Place, this.#client);
  }

  follow(stream: EventReply): void {
    this.#stream = stream;
    this.#read(stream);
  }

  #read(stream: EventReply): void {
    const take = ({ id, data }: { id?: string; data?: string }): void => {
      this.#lastEventId = id ?? this.#lastEventId;
      if (data) this.received.push(JSON.parse(data) as JsonObject);
    };
    for (const event of stream.events) take(event);
    stream.onEvent = take;
  }

  /** Pushes the next numbers from a node, each after the one before is in the log. */
  async push(count: number, place = 0): Promise<void> {
    const { push } = (this.#places[place] as Place).server;
    for (let at = 0; at < count; at++) {
      const params = { level: "info", data: ++this.sent };
      expect(await push.toSession(this.#client.id, "notifications/message", params)).toBe(true);
    }
  }

  /** The client hangs up: what arrives from now on, it does not see. */
  cut(): void {
    if (this.#stream === undefined) return;
    if (this.isConnected) this.cuts++;
    this.#stream.onEvent = () => {};
    this.#stream.cut();
    this.#stream = undefined;
  }

  /**
   * Opens streams without an id, at the same moment, and reads all of them. The old connection stays, and is read no more. Numbers
   * that it carried may be lost, if one of the streams says so.
   */
  async reopen(...places: readonly number[]): Promise<void> {
    const { sent } = this;
    if (this.#stream !== undefined) this.#stream.onEvent = () => {};
    for (const twin of this.#twins.splice(0)) twin.onEvent = () => {};
    const streams = await Promise.all(places.map((place) => this.at(place).get()));
    this.#stream = undefined;
    this.#lastEventId = undefined;
    for (const stream of streams) {
      this.#read(stream);
      const { onEvent } = stream;
      stream.onEvent = (event) => {
        onEvent(event);
        if (stream.messages.some(isGap)) this.toldUpTo = Math.max(sent, this.toldUpTo);
      };
      if (stream.messages.some(isGap)) this.toldUpTo = Math.max(sent, this.toldUpTo);
    }
    const [first] = streams;
    if (streams.length === 1) this.#stream = first;
    else this.#twins.push(...streams);
    this.#left.push(...streams);
  }

  /** Whether it reads several streams at once. */
  get hasTwins(): boolean {
    return this.#twins.length > 0;
  }

  /** Cuts every connection, those that were left half-open too. */
  close(): void {
    this.cut();
    for (const stream of this.#left.splice(0)) stream.cut();
  }

  /** Resumes on a node, whether the old connection is still open there or elsewhere, or gone. */
  async resume(place = 0): Promise<void> {
    const old = this.#stream;
    // From here on it reads only what comes after the last event that it names.
    if (old !== undefined) old.onEvent = () => {};
    this.follow(await this.at(place).get(this.#lastEventId));
    old?.cut();
  }
}

function isGap({ method }: JsonObject): boolean {
  return String(method).endsWith("list_changed");
}
