// Clients that live behind the proxy: the official ones as they are shipped, and one that only remembers where it was.
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { JsonObject } from "halyard";
import type { EventReply } from "../support/event-reply.ts";
import { SessionClient } from "../support/sessions.ts";

export type Hears = (method: string, params: JsonObject) => void;

export interface ChaosClient {
  readonly session: string;
  subscribe(uri: string): Promise<unknown>;
  /** Resolves with the text of the result; rejects when the client has lost the call. */
  call(name: string, args: JsonObject): Promise<string>;
  close(): Promise<void>;
}

export interface ClientRow {
  readonly name: string;
  /** Whether it gives a stream up when it could not be opened twice in a row. */
  readonly givesUp: boolean;
  connect(url: string, revision: string, hears: Hears): Promise<ChaosClient>;
}

const info = { name: "chaos", version: "1.0.0" };

/** As shipped, but for how long they wait where the server does not say it: a second and more. */
const reconnectionOptions = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 50,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};

/** A call may hang: before 2025-11-25 an official client cannot resume a stream of which it has no event. */
const callTimeout = { timeout: 1000 };

interface Sends {
  send(message: unknown, options?: unknown): Promise<void>;
}

/** The official clients offer the newest revision that they know; this one offers another. */
function offering<T extends object>(transport: T, revision: string): T {
  const sends = transport as unknown as Sends;
  const send = sends.send.bind(transport);
  sends.send = (message, options) => {
    const { method, params } = message as { method?: string; params?: JsonObject };
    const isOffer = method === "initialize";
    return send(
      isOffer ? { ...(message as object), params: { ...params, protocolVersion: revision } } : message,
      options,
    );
  };
  return transport;
}

function official(client: ClientV1 | ClientV2, transport: HttpV1 | HttpV2): ChaosClient {
  return {
    session: transport.sessionId ?? "",
    subscribe: (uri) => client.subscribeResource({ uri }),
    call: async (name, args) => {
      const params = { name, arguments: args };
      const result =
        client instanceof ClientV1
          ? await client.callTool(params, undefined, callTimeout)
          : await client.callTool(params, callTimeout);
      const [content] = result.content as [{ text?: string }];
      return content.text ?? "";
    },
    close: () => client.close(),
  };
}

function hearing(client: ClientV1 | ClientV2, hears: Hears): void {
  client.fallbackNotificationHandler = async ({ method, params }) =>
    hears(method, (params ?? {}) as JsonObject);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no EventTarget
  client.onerror = () => {};
}

/** It comes back after the last event of each stream, as often as it takes, and forgets nothing. */
class Rememberer implements ChaosClient {
  readonly session: string;
  readonly #client: SessionClient;
  readonly #hears: Hears;
  readonly #streams = new Set<EventReply>();
  #isClosed = false;

  constructor(client: SessionClient, hears: Hears) {
    this.session = client.id;
    this.#client = client;
    this.#hears = hears;
    void this.#listen();
  }

  subscribe(uri: string): Promise<unknown> {
    return this.#client.request("resources/subscribe", { uri });
  }

  async call(name: string, args: JsonObject): Promise<string> {
    let stream = await this.#client.call(name, args);
    let lastEventId: string | undefined;
    for (;;) {
      if (!stream.headers["content-type"]?.startsWith("text/event-stream"))
        return textOf(await stream.json());
      const response = await this.#follow(stream, (id) => (lastEventId = id));
      if (response !== undefined) return textOf(response);
      if (lastEventId === undefined) throw new Error("The call is lost: no event told where it was");
      stream = await this.#resume(lastEventId);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.cut();
  }

  async #listen(): Promise<void> {
    let lastEventId: string | undefined;
    while (!this.#isClosed) {
      const stream = await this.#resume(lastEventId).catch(() => undefined);
      if (stream !== undefined) await this.#follow(stream, (id) => (lastEventId = id));
    }
  }

  async #resume(lastEventId: string | undefined): Promise<EventReply> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const stream = await this.#client.get(lastEventId).catch(() => undefined);
      if (stream?.status === 200) return stream;
      if (stream !== undefined || this.#isClosed) throw new Error(`The stream is gone: ${stream?.status}`);
    }
  }

  /** Reads a stream to its end; answers the response that it brought, if it did. */
  async #follow(stream: EventReply, at: (id: string) => void): Promise<JsonObject | undefined> {
    let response: JsonObject | undefined;
    const take = ({ id, data }: { id?: string; data?: string }): void => {
      if (id !== undefined) at(id);
      if (!data) return;
      const message = JSON.parse(data) as JsonObject;
      if (message["method"] === undefined) response = message;
      else this.#hears(String(message["method"]), (message["params"] ?? {}) as JsonObject);
    };
    for (const event of stream.events) take(event);
    stream.onEvent = take;
    this.#streams.add(stream);
    if (this.#isClosed) stream.cut();
    await stream.closed;
    this.#streams.delete(stream);
    return response;
  }
}

function textOf(response: JsonObject): string {
  const { content } = response["result"] as { content: [{ text: string }] };
  return content[0].text;
}

export const clientRows: readonly ClientRow[] = [
  {
    name: "sdk 1",
    givesUp: true,
    connect: async (url, revision, hears) => {
      const client = new ClientV1(info);
      const transport = offering(new HttpV1(new URL(url), { reconnectionOptions }), revision);
      hearing(client, hears);
      await client.connect(transport as Parameters<ClientV1["connect"]>[0]);
      return official(client, transport);
    },
  },
  {
    name: "client 2",
    givesUp: true,
    connect: async (url, revision, hears) => {
      const client = new ClientV2(info);
      const transport = offering(new HttpV2(new URL(url), { reconnectionOptions }), revision);
      hearing(client, hears);
      await client.connect(transport);
      return official(client, transport);
    },
  },
  {
    name: "a client that remembers",
    givesUp: false,
    connect: async (url, revision, hears) =>
      new Rememberer(await SessionClient.open({ url }, { revision }), hears),
  },
];
