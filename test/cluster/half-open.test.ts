// Connections die without closing: a client that opens another GET stream gets notifications for what it may have lost on the first.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { clientAt, serveCluster } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { logDataOf, methodsOf, serve, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { engineRows, onEngine } from "./backplanes.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };
const told = ["resources/list_changed", `resources/updated ${note.uri}`];

function define(server: McpServer): void {
  server.resource(note.uri, {}, () => "");
}

interface Place {
  readonly url: string;
  readonly server: McpServer;
}

/** The node of the first stream, and the one of the next. */
type Pair = () => Promise<readonly [Place, Place, ...Place[]]>;

async function alone(): Promise<readonly [Place, Place]> {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  define(server);
  const { url } = await serve(server);
  return [
    { url, server },
    { url, server },
  ];
}

async function begin(places: readonly [Place, ...Place[]]): Promise<SessionClient> {
  const client = await SessionClient.open(places[0]);
  await client.request("resources/subscribe", note);
  return client;
}

async function push({ server }: Place, { id }: SessionClient, ...numbers: number[]): Promise<void> {
  for (const data of numbers) {
    const params = { level: "info", data };
    expect(await server.push.toSession(id, "notifications/message", params)).toBe(true);
  }
}

/** Resolves with what the stream has told, after a push that comes after all of it. */
async function toldOn(stream: EventReply, place: Place, client: SessionClient): Promise<string[]> {
  await push(place, client, 99);
  await until(() => logDataOf(stream.messages).includes(99));
  return methodsOf(stream.messages).filter((method) => method !== "message");
}

function cases(pair: Pair): void {
  test("five pushes on a dead connection, then a GET without an id: a gap, told once", async () => {
    const places = await pair();
    const [first, second] = places;
    const client = await begin(places);
    const dead = await client.get();
    dead.stall();
    await push(first, client, 1, 2, 3, 4, 5);
    const fresh = await clientAt(second, client).get();
    expect(await toldOn(fresh, first, client)).toEqual(told);
    expect(logDataOf(fresh.messages)).toEqual([99]);
    expect(await toldOn(fresh, second, client)).toEqual(told);
  });

  test("a change on a dead connection is a gap", async () => {
    const places = await pair();
    const [first, second] = places;
    const client = await begin(places);
    const dead = await client.get();
    await first.server.resources.updated(note.uri);
    await until(() => dead.messages.length === 1);
    const fresh = await clientAt(second, client).get();
    expect(await toldOn(fresh, first, client)).toEqual(told);
  });

  test("the notifications about a gap may be lost, too", async () => {
    const places = await pair();
    const [first, second] = places;
    const client = await begin(places);
    await client.get();
    await push(first, client, 1);
    const dead = await clientAt(second, client).get();
    await until(() => dead.messages.length === told.length);
    const fresh = await clientAt(first, client).get();
    expect(await toldOn(fresh, first, client)).toEqual(told);
  });

  test("a stream that carried nothing is no gap, whether it is open or closed", async () => {
    const places = await pair();
    const [first, second] = places;
    const client = await begin(places);
    const open = await client.get();
    const fresh = await clientAt(second, client).get();
    await open.vanish();
    await fresh.vanish();
    const last = await clientAt(first, client).get();
    expect(await toldOn(last, first, client)).toEqual([]);
  });

  test("what a resume has covered is no gap", async () => {
    const places = await pair();
    const [first, second] = places;
    const client = await begin(places);
    const cut = await client.get();
    await push(first, client, 1);
    await first.server.resources.updated(note.uri);
    await until(() => cut.messages.length === 2);
    const resumed = await clientAt(second, client).get(cut.lastEventId);
    const fresh = await clientAt(first, client).get();
    expect(await toldOn(fresh, first, client)).toEqual([]);
    resumed.cut();
  });

  test("what a resume has replayed may be lost again", async () => {
    const places = await pair();
    const [first, second] = places;
    const client = await begin(places);
    const cut = await client.get();
    await push(first, client, 1, 2);
    await until(() => cut.messages.length === 2);
    const one = cut.events.find(({ data }) => data)?.id;
    const resumed = await clientAt(second, client).get(one);
    await until(() => resumed.messages.length === 1);
    const fresh = await clientAt(first, client).get();
    expect(await toldOn(fresh, first, client)).toEqual(told);
  });
}

describe("one process", () => cases(alone));

describe.each(engineRows)("$name", (row) => {
  const engine = onEngine(row);
  const nodes = () => serveCluster({ nodes: 2, backplane: engine.backplane, define });

  describe("on another node", () => cases(nodes));

  describe("on the same node", () =>
    cases(async () => {
      const [node] = await nodes();
      return [node, node];
    }));
});
