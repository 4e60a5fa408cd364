// What a listener does with a stream whose reader falls behind and catches up: order, room given back, and nothing left on it.
import { McpServer, type ServerOptions } from "halyard";
import { Connection, portOf, type RpcMessage } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { HeldStream } from "../../support/held-stream.ts";
import { describe as inShort } from "../../support/listen.ts";
import { initializeRequest, modernRequest, newestLegacy } from "../../support/raw.ts";
import { nextTurn } from "../../support/turns.ts";

const uris = Array.from({ length: 5 }, (_, at) => `note:///${at}`);

function noteServer(limits: NonNullable<ServerOptions["limits"]> = {}): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { limits });
  server.resourceTemplate("note:///{id}", {}, () => "");
  return server;
}

/** Opens a listener for all the URIs on the stream; what is returned ends it. */
type Open = (server: McpServer, stream: HeldStream, id?: number) => Promise<() => Promise<void>>;

const kinds: Record<string, Open> = {
  async "a session"(server, stream, id = 0) {
    const connection = new Connection({ transport: "test", session: `s${id}` });
    const say = (message: object): Promise<unknown> | unknown =>
      server.handle(message as RpcMessage, { connection, stream });
    await say(initializeRequest(0, newestLegacy));
    const detach = portOf(server).attach(connection, stream);
    for (const uri of uris) {
      await say({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } });
    }
    return async () => detach();
  },
  async "a subscription"(server, stream, id = 0) {
    const connection = new Connection({ transport: "test" });
    const filter = { notifications: { resourceSubscriptions: uris } };
    const request = modernRequest(id, "subscriptions/listen", filter) as unknown as RpcMessage;
    const ended = Promise.resolve(server.handle(request, { connection, stream }));
    await nextTurn();
    stream.written.length = 0;
    return async () => {
      connection.endSubscriptions();
      await ended;
    };
  },
};

describe.each(Object.entries(kinds))("the stream of %s", (_, open) => {
  test("that has room again, and has not said so yet, gets what waited before what comes", async () => {
    const server = noteServer();
    const stream = new HeldStream();
    const end = await open(server, stream);
    stream.congested = true;
    await server.resources.updated("note:///0");
    await server.resources.updated("note:///1");
    expect(stream.written).toEqual([]);
    // As a socket does that has taken half of what it was given.
    stream.congested = false;
    await server.resources.updated("note:///2");
    stream.drain();
    await server.resources.updated("note:///3");
    expect(stream.written.map(inShort)).toEqual(uris.slice(0, 4).map((uri) => `resources/updated ${uri}`));
    await end();
  });

  test.each(["maxQueueBytes", "maxTotalQueueBytes"])(
    "may fill and drain again and again: only what waits counts for %s",
    async (limit) => {
      const server = noteServer({ [limit]: 1000 });
      const stream = new HeldStream();
      const end = await open(server, stream);
      for (let round = 0; round < 20; round++) {
        stream.congested = true;
        for (const uri of uris.slice(0, 4)) await server.resources.updated(uri);
        expect(stream.written).toHaveLength(4 * round);
        stream.drain();
        expect(stream.written).toHaveLength(4 * round + 4);
      }
      const total = stream.written.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
      expect(total).toBeGreaterThan(5000);
      expect(stream.destroyed).toBeUndefined();
      await end();
    },
  );

  test("is rid of every listener that has ended, though its reader was behind", async () => {
    const server = noteServer();
    const stream = new HeldStream();
    for (let id = 0; id < 100; id++) {
      const end = await open(server, stream, id);
      stream.congested = true;
      await server.resources.updated("note:///0");
      expect(stream.waiting).toBe(1);
      await end();
      expect(stream.waiting).toBe(0);
      stream.congested = false;
    }
    stream.drain();
    expect(stream.written.map(inShort)).not.toContain("resources/updated note:///0");
  });
});
