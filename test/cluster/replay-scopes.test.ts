// Notifications about what needs a scope reach only readers whose token has it: live, replayed, waiting, or after a lost stream.
import { McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { describe, expect, test } from "vitest";
import { clientAt, serveCluster } from "../support/cluster.ts";
import type { EventReply } from "../support/event-reply.ts";
import { expectNoUnhandledRejections } from "../support/rejections.ts";
import { SessionClient } from "../support/sessions.ts";
import { deferred, until } from "../support/turns.ts";
import { engineRows, onEngine } from "./backplanes.ts";

expectNoUnhandledRejections();

const secret = { uri: "secret:///plan" };
const open = { uri: "open:///note" };

function define(server: McpServer): void {
  server.resource(secret.uri, { scopes: ["secrets"] }, () => "");
  server.resource(open.uri, {}, () => "");
  server.tool("tell", { scopes: ["secrets"] }, async (_, ctx) => {
    await ctx.log("info", "began");
    return "the plan";
  });
}

/** One user, whose tokens have different scopes. */
const http: HttpOptions = {
  auth: (request) => ({
    issuer: "https://issuer.example",
    subject: "alice",
    scopes: (request.header("x-scopes") ?? "").split(" ").filter(Boolean),
  }),
};
const full = { headers: { "x-scopes": "secrets" } };
const limited = { headers: { "x-scopes": "" } };

interface Place {
  readonly url: string;
  readonly server: McpServer;
}

async function begin([first]: readonly [Place, ...Place[]]): Promise<SessionClient> {
  const client = await SessionClient.open(first, full);
  for (const uri of [secret, open]) await client.request("resources/subscribe", uri);
  return client;
}

async function update({ server }: Place): Promise<void> {
  await server.resources.updated(secret.uri);
  await server.resources.updated(open.uri);
}

/** The resources that the stream tells of. The open one comes last, live or replayed. */
async function updatesOn(stream: EventReply): Promise<string[]> {
  await stream.message(isAbout(open.uri));
  expect(stream.textSoFar.includes(secret.uri)).toBe(stream.messages.some(isAbout(secret.uri)));
  return [secret, open].map(({ uri }) => uri).filter((uri) => stream.messages.some(isAbout(uri)));
}

function isAbout(uri: string): (message: { params?: unknown }) => boolean {
  return ({ params }) => (params as { uri?: string } | undefined)?.uri === uri;
}

const readers = [
  ["with the scope", full, [secret.uri, open.uri]],
  ["without the scope", limited, [open.uri]],
] as const;

describe.each(engineRows)("two nodes, $name", (row) => {
  const engine = onEngine(row);
  const nodes = () => serveCluster({ nodes: 2, backplane: engine.backplane, define, http });

  test.each(readers)("a first GET %s gets what waited for it", async (_, token, expected) => {
    const places = await nodes();
    const [first, second] = places;
    const client = await begin(places);
    await update(first);
    const stream = await clientAt(second, client, token).get();
    expect(await updatesOn(stream)).toEqual(expected);
  });

  test.each(readers)("a resume %s gets what it has missed", async (_, token, expected) => {
    const places = await nodes();
    const [first, second] = places;
    const client = await begin(places);
    const stream = await client.get();
    await until(() => stream.lastEventId !== undefined);
    await stream.vanish();
    await update(first);
    const resumed = await clientAt(second, client, token).get(stream.lastEventId);
    expect(await updatesOn(resumed)).toEqual(expected);
  });

  test.each(readers)("a stream %s takes over from a lost one", async (_, token, expected) => {
    const places = await nodes();
    const [first, second] = places;
    const client = await begin(places);
    const backup = await clientAt(second, client, token).get();
    const lost = await client.get();
    await until(() => lost.lastEventId !== undefined && backup.lastEventId !== undefined);
    await lost.vanish();
    await update(first);
    expect(await updatesOn(backup)).toEqual(expected);
  });

  test.each(readers)("a stream %s that begins with a gap", async (_, token, expected) => {
    const places = await nodes();
    const [first, second] = places;
    const client = await begin(places);
    const dead = await client.get();
    await update(first);
    await until(() => dead.messages.length === 2);
    const stream = await clientAt(second, client, token).get();
    expect(await updatesOn(stream)).toEqual(expected);
  });

  test.each(readers)("the stream of a call is resumed %s", async (_, token, expected) => {
    const places = await nodes();
    const client = await begin(places);
    const call = await client.call("tell");
    await call.closed;
    const [primed] = call.events;
    const resumed = await clientAt(places[1], client, token).get(primed?.id);
    await resumed.closed;
    const isAllowed = expected.length === 2;
    expect(resumed.status).toBe(isAllowed ? 200 : 400);
    expect(resumed.textSoFar.includes("the plan")).toBe(isAllowed);
  });

  test.each(readers)(
    "a stream %s takes over after changes that no stream told",
    async (_, token, expected) => {
      const [first, second] = await nodes();
      const client = await begin([first, second]);
      const backup = await clientAt(second, client, token).get();
      const lost = await client.get();
      await until(() => lost.lastEventId !== undefined && backup.lastEventId !== undefined);
      const gate = deferred();
      first.engine.delay("append", () => gate.promise);
      await lost.vanish();
      await until(() => first.engine.operations.includes("unfollow"));
      await update(second);
      gate.resolve();
      expect(await updatesOn(backup)).toEqual(expected);
    },
  );
});
