// The engine loses what it holds while every connection to it stays: nodes notice, and every client learns of the loss.
import { connect as connectNats } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { type EngineName, type EngineProcess, hasEngine } from "../support/engines.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { listenOver, SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { allBack, arrived, hasBeen, isUpdate, numbersOn, push, twoNodes } from "./engine-cluster.ts";

expectNoUnhandledRejections();

const note = { uri: "note:///a" };

/** Calls the API of JetStream for the streams whose name matches. */
async function eachStream(
  { url }: EngineProcess,
  operation: "DELETE" | "PURGE",
  matches = (_name: string): boolean => true,
): Promise<void> {
  const connection = await connectNats({ servers: url });
  const { streams } = (await connection.request("$JS.API.STREAM.NAMES")).json<{ streams: string[] }>();
  for (const name of streams.filter(matches)) await connection.request(`$JS.API.STREAM.${operation}.${name}`);
  await connection.close();
}

interface Loss {
  readonly name: string;
  readonly engine: EngineName;
  readonly lose: (engine: EngineProcess) => Promise<void>;
}

const everyLoss: readonly Loss[] = [
  { name: "FLUSHALL", engine: "redis-server", lose: async (engine) => void engine.cli("FLUSHALL") },
  { name: "NATS streams deleted", engine: "nats-server", lose: (engine) => eachStream(engine, "DELETE") },
  { name: "NATS streams purged", engine: "nats-server", lose: (engine) => eachStream(engine, "PURGE") },
];

describe.each(everyLoss.filter(({ engine }) => hasEngine(engine)))("$name", ({ engine: name, lose }) => {
  test("every node notices without a request: sessions end, and listeners are notified to read again", async () => {
    const { engine, one, other } = await twoNodes(name);
    const client = await SessionClient.open(one);
    const stream = await clientAt(other, client).get();
    await push(one, client.id, 1);
    await arrived(stream, 1);
    const listening = await listenOver(one.url, { resourceSubscriptions: [note.uri] });
    await lose(engine);
    await Promise.all([hasBeen(one, "lost"), hasBeen(other, "lost")]);
    await allBack(one, other);
    await stream.closed;
    for (const node of [one, other]) expect((await clientAt(node, client).start("ping")).status).toBe(404);
    await listening.message(isUpdate);
    const again = await SessionClient.open(other);
    const fresh = await clientAt(one, again).get();
    expect(await push(other, again.id, 2)).toBe(true);
    await arrived(fresh, 2);
  });

  test("a push to a session that the engine has lost rejects, instead of saying that there is none", async () => {
    const { engine, one } = await twoNodes(name);
    const client = await SessionClient.open(one);
    await lose(engine);
    await expect(push(one, client.id, 1)).rejects.toMatchObject({ code: "BACKPLANE_UNAVAILABLE" });
  });

  test("a push that waited and is lost is not passed over by the next GET", async () => {
    const { engine, one } = await twoNodes(name);
    const client = await SessionClient.open(one);
    await client.request("resources/subscribe", note);
    expect(await push(one, client.id, 1)).toBe(true);
    await lose(engine);
    // The node has a copy of the session.
    const stream = await client.get();
    // Sent away, so that it initializes again, or told to read everything again.
    if (stream.status === 200) await stream.message(isUpdate);
    else expect([404, 503]).toContain(stream.status);
  });
});

describe.runIf(hasEngine("nats-server"))("only the stream of the logs is deleted", () => {
  test("a push after another node has created it again arrives, and the client is notified", async () => {
    const { engine, one, other } = await twoNodes("nats-server");
    const client = await SessionClient.open(one);
    await client.request("resources/subscribe", note);
    const stream = await clientAt(other, client).get();
    for (let data = 1; data <= 20; data++) await push(one, client.id, data);
    await arrived(stream, 20);
    await eachStream(engine, "DELETE", (name) => name.endsWith("log"));
    // The first node finds out, and creates it; the other does not ask for anything.
    await push(one, client.id, 21).catch(() => {});
    await hasBeen(one, "back");
    await until(async () => push(one, client.id, 22).catch(() => false));
    await arrived(stream, 22);
    await stream.message(isUpdate);
    expect(numbersOn(stream).filter((data) => data === 22)).toHaveLength(1);
  });
});
