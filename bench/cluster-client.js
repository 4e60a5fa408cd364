// A client of a cluster that sends each request to the node it is told: its session, its streams, and how long things take.
import { initialized, INFO } from "./baselines/messages.js";
import { dataOf, get, legacyFields, openSession, post, WireConnection } from "./http-wire.js";

const HANDSHAKE = {
  initialize: JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: INFO },
  }),
  initialized: initialized(),
};

/** Milliseconds since `since`, which a process of this machine has read from the same clock. */
export function millisSince(since, until = process.hrtime.bigint()) {
  return Number(BigInt(until) - BigInt(since)) / 1e6;
}

export class ClusterClient {
  #connections = new Map();
  #session;

  static async open(port) {
    const client = new ClusterClient();
    client.#session = await openSession(await client.#at(port), port, HANDSHAKE);
    return client;
  }

  get session() {
    return this.#session.id;
  }

  async post(port, message) {
    const connection = await this.#at(port);
    return connection.request(post(port, JSON.stringify(message), legacyFields(this.#session)));
  }

  /** Opens a stream: a GET, resumed after `lastEventId`, or the reply to a message. */
  async stream(port, { lastEventId, message } = {}) {
    const connection = await WireConnection.open(port);
    const fields = legacyFields(this.#session);
    const resumed = lastEventId === undefined ? fields : { ...fields, "Last-Event-ID": lastEventId };
    const text = message ? post(port, JSON.stringify(message), fields) : get(port, resumed);
    const stream = new ClientStream(connection);
    await connection.stream(text, (event) => stream.take(event));
    return stream;
  }

  close() {
    for (const connection of this.#connections.values()) connection.close();
  }

  async #at(port) {
    const open = this.#connections.get(port);
    if (open && !open.closed) return open;
    const connection = await WireConnection.open(port);
    this.#connections.set(port, connection);
    return connection;
  }
}

class ClientStream {
  #connection;
  #messages = [];
  #wake = () => {};
  lastEventId;

  constructor(connection) {
    this.#connection = connection;
  }

  take(event) {
    this.lastEventId = /^id: *(.*)$/m.exec(event)?.[1] ?? this.lastEventId;
    const data = dataOf(event);
    if (data === "") return;
    this.#messages.push({ ...JSON.parse(data), arrivedAt: process.hrtime.bigint() });
    this.#wake();
  }

  /** The next message, with the time of its arrival. */
  async next() {
    while (this.#messages.length === 0) await new Promise((resolve) => (this.#wake = resolve));
    return this.#messages.shift();
  }

  close() {
    this.#connection.close();
  }
}
