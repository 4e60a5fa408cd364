// Permission to subscribe to a resource, and the author's callbacks: over listen, legacy sessions and pipes.
import { McpServer, type ServerOptions } from "halyard";
import { connect, type TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { paramsOf, listen, settled, startListening, stopListening, isAck } from "../../support/listen.ts";
import { type LogEntry, recordingLogger } from "../../support/log.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { SseClient } from "../../support/legacy-sse.ts";
import { PipePeer } from "../../support/pipe.ts";
import { newestLegacy } from "../../support/raw.ts";
import { listenOver, serve, SessionClient } from "../../support/sessions.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

interface Made {
  readonly server: McpServer;
  readonly told: string[];
  readonly log: LogEntry[];
}

function makeServer(options: ServerOptions = {}): Made {
  const told: string[] = [];
  const logger = recordingLogger();
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    {
      logger,
      onSubscribed: (uri) => void told.push(`+ ${uri}`),
      onUnsubscribed: (uri) => void told.push(`- ${uri}`),
      ...options,
    },
  );
  for (const name of ["a", "b", "secret"]) server.resource(`note:///${name}`, {}, () => name);
  return { server, told, log: logger.entries };
}

const exceptSecret: ServerOptions = { authorizeSubscription: async (uri) => !uri.includes("secret") };

describeMatrix("subscribers on a pipe", { eras: ["modern"] }, (cell) => {
  test("onSubscribed and onUnsubscribed tell of the first and the last subscriber of a URI only", async () => {
    const { server, told } = makeServer();
    const client = await cell.connect(server);
    await listen(
      client,
      { resourceSubscriptions: ["note:///a", "note:///b"], resourcesListChanged: true },
      1,
    );
    await listen(client, { resourceSubscriptions: ["note:///a"] }, 2);
    await nextTurn();
    expect(told).toEqual(["+ note:///a", "+ note:///b"]);
    stopListening(client, 1);
    await settled(client);
    expect(told.slice(2)).toEqual(["- note:///b"]);
    await client.close();
    await until(() => told.length === 4);
    expect(told.at(-1)).toBe("- note:///a");
  });

  test("authorizeSubscription leaves what it refuses out of the acknowledged subset [SUB-ACK-SUBSET]", async () => {
    const { server, told } = makeServer(exceptSecret);
    const client = await cell.connect(server);
    const acknowledged = await listen(
      client,
      { resourceSubscriptions: ["note:///a", "note:///secret"], resourcesListChanged: true },
      1,
    );
    expect(acknowledged).toEqual({ resourceSubscriptions: ["note:///a"], resourcesListChanged: true });
    expect(await listen(client, { resourceSubscriptions: ["note:///secret"] }, 2)).toEqual({});
    expect(await server.resources.updated("note:///secret")).toBe(0);
    expect(await server.resources.updated("note:///a")).toBe(1);
    expect(told).toEqual(["+ note:///a"]);
    await client.close();
  });

  test("changes that are published while authorizeSubscription decides come after the acknowledgement or not at all [SUB-ACK-FIRST]", async () => {
    const { server } = makeServer({ authorizeSubscription: () => nextTurn().then(() => true) });
    const client = await cell.connect(server);
    startListening(client, { resourceSubscriptions: ["note:///a"] }, 1);
    for (let at = 0; at < 5; at++) {
      await server.resources.updated("note:///a");
      await nextTurn();
    }
    await client.waitFor(isAck);
    expect(isAck(client.received[0] as never)).toBe(true);
    await client.close();
  });

  test("a subscription that is cancelled while authorizeSubscription decides leaves nothing behind [SUB-CANCEL-SERVER-STOP]", async () => {
    const { server } = makeServer({ authorizeSubscription: () => nextTurn().then(() => true) });
    const client = await cell.connect(server);
    startListening(client, { resourceSubscriptions: ["note:///a"] }, 1);
    stopListening(client, 1);
    await settled(client);
    await nextTurn();
    expect(client.received.some(isAck)).toBe(false);
    expect(await server.push.count()).toBe(0);
    await client.close();
  });
});

describeMatrix("subscribers in a legacy session", { eras: ["legacy"] }, (cell) => {
  test("subscribe and unsubscribe tell the author, and so does the end of the session", async () => {
    const { server, told } = makeServer();
    const client = await cell.connect(server);
    await client.request("resources/subscribe", { uri: "note:///a" });
    await client.request("resources/subscribe", { uri: "note:///a" });
    await client.request("resources/subscribe", { uri: "note:///b" });
    await client.request("resources/unsubscribe", { uri: "note:///a" });
    await client.request("resources/unsubscribe", { uri: "note:///a" });
    expect(told).toEqual(["+ note:///a", "+ note:///b", "- note:///a"]);
    await client.close();
    await until(() => told.length === 4);
    expect(told.at(-1)).toBe("- note:///b");
  });

  test("a refused resources/subscribe looks as if there were no such resource", async () => {
    const { server } = makeServer(exceptSecret);
    const client = await cell.connect(server);
    const read = (uri: string): Promise<unknown> =>
      client.request("resources/read", { uri }).catch((error: unknown) => error);
    const subscribe = (uri: string): Promise<unknown> =>
      client.request("resources/subscribe", { uri }).catch((error: unknown) => error);
    const missing = (await read("note:///missing")) as { code: number };
    expect(await subscribe("note:///secret")).toMatchObject({
      code: missing.code,
      data: { uri: "note:///secret" },
    });
    expect(await server.push.isSubscribed("note:///secret")).toBe(false);
    expect(await subscribe("note:///a")).toEqual({});
    await client.close();
  });
});

describe("a session that ends while authorizeSubscription decides", () => {
  const uri = "note:///a";
  const ends: Record<string, (server: McpServer) => Promise<() => Promise<unknown>>> = {
    "by the end of its pipe": async (server) => {
      const peer = new PipePeer(server, { revision: newestLegacy });
      await peer.client.open();
      await nextTurn();
      peer.start("resources/subscribe", { uri }, 1);
      return () => peer.pipe.end(0);
    },
    "by DELETE": async (server) => {
      const client = await SessionClient.open(await serve(server));
      client.start("resources/subscribe", { uri }).catch(() => {});
      return () => client.delete();
    },
    "with its stream of HTTP+SSE": async (server) => {
      const client = await SseClient.open(await serve(server, { legacySse: true }));
      await client.say({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } });
      return () => client.stream.vanish();
    },
  };

  test.each(Object.entries(ends))("%s subscribes to nothing any more", async (_, begin) => {
    const [asked, verdict] = [deferred(), deferred<boolean>()];
    const { server, told } = makeServer({
      authorizeSubscription: () => (asked.resolve(), verdict.promise),
    });
    const end = await begin(server);
    await asked.promise;
    await end();
    await until(async () => (await server.push.count()) === 0);
    verdict.resolve(true);
    await nextTurn();
    expect(await server.push.isSubscribed(uri)).toBe(false);
    expect(await server.resources.updated(uri)).toBe(0);
    expect(told).toEqual([]);
  });
});

describe("subscribers over HTTP", () => {
  const authenticate = (request: {
    header(name: string): string | undefined;
  }): { issuer: string; subject: string } => ({
    issuer: "https://issuer.example",
    subject: request.header("x-user") ?? "nobody",
  });
  const ownOnly: ServerOptions = {
    authorizeSubscription: (uri, ctx) => uri === `note:///${ctx.principal?.subject}`,
  };

  test("authorizeSubscription decides by principal, for listen and for sessions", async () => {
    const { server, told } = makeServer(ownOnly);
    const served = await serve(server, { auth: authenticate });
    const headers = { "x-user": "a" };
    const wanted = { resourceSubscriptions: ["note:///a", "note:///b"] };
    const stream = await listenOver(served.url, wanted, { headers });
    expect(stream.messages[0]).toHaveProperty("params.notifications", {
      resourceSubscriptions: ["note:///a"],
    });
    const client = await SessionClient.open(served, { headers });
    expect(await client.request("resources/subscribe", { uri: "note:///a" })).toMatchObject({ result: {} });
    expect(await client.request("resources/subscribe", { uri: "note:///b" })).toHaveProperty("error");
    expect(told).toEqual(["+ note:///a"]);
    stream.cut();
    await until(() => served.stats().subscriptions === 0);
    expect(told).toEqual(["+ note:///a"]);
    await client.delete();
    await until(() => told.length === 2);
    expect(told).toEqual(["+ note:///a", "- note:///a"]);
  });

  test("a client that goes away unsubscribes, and the author is notified", async () => {
    const { server, told } = makeServer();
    const served = await serve(server);
    const streams = [];
    for (let id = 0; id < 5; id++)
      streams.push(await listenOver(served.url, { resourceSubscriptions: ["note:///a"] }, { id }));
    for (const stream of streams) stream.cut();
    await until(async () => (await server.push.count()) === 0);
    await until(() => told.length === 2);
    expect(told).toEqual(["+ note:///a", "- note:///a"]);
  });
});

describe("hooks that fail", () => {
  async function open(options: ServerOptions): Promise<{ client: TestClient } & Made> {
    const made = makeServer(options);
    return { ...made, client: await connect(made.server, { revision: "2026-07-28" }) };
  }

  test.each([
    [
      "throws",
      (): boolean => {
        throw new Error("postgres://secret");
      },
    ],
    ["rejects", (): Promise<boolean> => Promise.reject(new Error("postgres://secret"))],
  ])(
    "authorizeSubscription that %s refuses the request, and says nothing of why",
    async (_, authorizeSubscription) => {
      const { client, server } = await open({ authorizeSubscription });
      const error = await client
        .request("subscriptions/listen", { notifications: { resourceSubscriptions: ["note:///a"] } })
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: -32603 });
      expect(JSON.stringify(client.received)).not.toContain("postgres");
      expect(await server.push.count()).toBe(0);
      await client.close();
    },
  );

  test("authorizeSubscription that answers anything but true refuses", async () => {
    const { client } = await open({ authorizeSubscription: (() => "yes") as never });
    expect(await listen(client, { resourceSubscriptions: ["note:///a"] }, 1)).toEqual({});
    await client.close();
  });

  test("onSubscribed that fails is logged, and the subscription stands", async () => {
    const { client, server, log } = await open({ onSubscribed: () => Promise.reject(new Error("broken")) });
    await listen(client, { resourceSubscriptions: ["note:///a"] }, 1);
    expect(await server.resources.updated("note:///a")).toBe(1);
    await until(() => log.some(({ message }) => message === "onSubscribed() failed"));
    expect(paramsOf(client.received.at(-1) as never)).toMatchObject({ uri: "note:///a" });
    await client.close();
  });
});
