// Who may read it: a stream gives its reader only what the scopes of its token allow, live, waiting, replayed or after a lost stream.
import type { JsonObject, McpServer } from "halyard";
import type { HttpOptions } from "halyard/node";
import { expect, test } from "vitest";
import type { EventReply } from "../support/event-reply.ts";
import { SessionClient, type SessionOptions } from "../support/sessions.ts";
import { until } from "../support/turns.ts";
import { contract, type Place, placeOn, primed } from "./columns.ts";

const secret = { uri: "secret:///plan" };
const open = { uri: "open:///note" };
const capabilities = { elicitation: {} };

function define(server: McpServer): void {
  server.resource(secret.uri, { scopes: ["secrets"] }, () => "");
  server.resource(open.uri, {}, () => "");
  server.tool("tell", { scopes: ["secrets"] }, async (_, ctx) => {
    await ctx.log("info", "began");
    return "the plan";
  });
  server.tool("plan", { scopes: ["secrets"], task: "optional" }, () => "the plan");
  server.tool("ask", { scopes: ["secrets"] }, async (_, ctx) => {
    const answer = await ctx.elicit("The plan?", { type: "object", properties: {} }, { timeoutMs: 300_000 });
    return JSON.stringify(answer);
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
const full: SessionOptions = { headers: { "x-scopes": "secrets" }, capabilities };
const fewer: SessionOptions = { headers: { "x-scopes": "" }, capabilities };
const readers: readonly [string, SessionOptions, string[]][] = [
  ["with the scope", full, [secret.uri, open.uri]],
  ["without the scope", fewer, [open.uri]],
];

interface Scoped extends Place {
  /** The same session with another token. */
  as(token: SessionOptions): SessionClient;
  update(): Promise<void>;
}

function isAbout(uri: string): (message: JsonObject) => boolean {
  return ({ params }) => (params as { uri?: string } | undefined)?.uri === uri;
}

/** The resources that the stream tells of. The open one comes last, live or replayed. */
async function updatesOn(stream: EventReply): Promise<string[]> {
  await stream.message(isAbout(open.uri));
  expect(stream.textSoFar.includes(secret.uri)).toBe(stream.messages.some(isAbout(secret.uri)));
  return [secret, open].map(({ uri }) => uri).filter((uri) => stream.messages.some(isAbout(uri)));
}

contract("what a token may read", (column) => {
  async function begin(): Promise<Scoped> {
    const place = await placeOn(column, { define, http, client: full });
    const { client, server, served } = place;
    for (const uri of [secret, open]) await client.request("resources/subscribe", uri);
    return {
      ...place,
      as: (token) => new SessionClient(served.url, client.id, token),
      async update() {
        await server.resources.updated(secret.uri);
        await server.resources.updated(open.uri);
      },
    };
  }

  test.each(readers)("a first GET %s gets what waited for it", async (_, token, expected) => {
    const { as, update } = await begin();
    await update();
    expect(await updatesOn(await as(token).get())).toEqual(expected);
  });

  test.each(readers)("a live stream %s", async (_, token, expected) => {
    const { as, update } = await begin();
    const stream = await primed(as(token).get());
    await update();
    expect(await updatesOn(stream)).toEqual(expected);
  });

  test.each(readers)("a resume %s gets what it has missed", async (_, token, expected) => {
    const { client, as, update } = await begin();
    const stream = await primed(client.get());
    await stream.vanish();
    await update();
    expect(await updatesOn(await as(token).get(stream.lastEventId))).toEqual(expected);
  });

  test.each(readers)("a stream %s takes over from a lost one", async (_, token, expected) => {
    const { client, as, update } = await begin();
    const backup = await primed(as(token).get());
    const lost = await primed(client.get());
    await lost.vanish();
    await update();
    expect(await updatesOn(backup)).toEqual(expected);
  });

  test.each(readers)("a stream %s that begins with a gap", async (_, token, expected) => {
    const { client, as, update } = await begin();
    const dead = await client.get();
    await update();
    await until(() => dead.messages.length === 2);
    expect(await updatesOn(await as(token).get())).toEqual(expected);
  });

  test.each(readers)("the stream of a call that has ended is resumed %s", async (_, token, expected) => {
    const { client, as } = await begin();
    const call = await client.call("tell");
    await call.closed;
    const resumed = await as(token).get(call.events.find(({ id }) => id)?.id);
    await resumed.closed;
    const isAllowed = expected.length === 2;
    expect(resumed.status).toBe(isAllowed ? 200 : 400);
    expect(resumed.textSoFar.includes("the plan")).toBe(isAllowed);
  });

  test.each(readers)("the stream of a call that asks is resumed %s", async (_, token, expected) => {
    const { client, as } = await begin();
    const call = await primed(client.call("ask"));
    const question = await call.message(({ method }) => method === "elicitation/create");
    await call.vanish();
    const isAllowed = expected.length === 2;
    const resumed = await as(token).get(call.events[0]?.id);
    expect(resumed.status).toBe(isAllowed ? 200 : 400);
    // An answer by the token without the scope is not one.
    expect(await as(fewer).answer(question, { result: { action: "decline" } })).toBe(202);
    const last = isAllowed ? resumed : await client.get(call.events[0]?.id);
    expect(await last.message(({ method }) => method === "elicitation/create")).toEqual(question);
    expect(await client.answer(question, { result: { action: "accept", content: {} } })).toBe(202);
    await last.closed;
    expect(last.messages.at(-1)).toHaveProperty("result.content");
  });

  test.each(readers)("the status of a task of that scope, on a stream %s", async (_, token, expected) => {
    const { client, as, server } = await begin();
    const stream = await primed(as(token).get());
    await client.request("tools/call", { name: "plan", arguments: {}, task: {} });
    const isAllowed = expected.length === 2;
    const isEnd = ({ method, params }: JsonObject): boolean =>
      method === "notifications/tasks/status" && JSON.stringify(params).includes("completed");
    const listed = async (): Promise<boolean> =>
      JSON.stringify(await client.request("tasks/list")).includes("completed");
    await until(listed);
    if (isAllowed) await stream.message(isEnd);
    await server.resources.updated(open.uri);
    await stream.message(isAbout(open.uri));
    expect(stream.messages.some(({ method }) => method === "notifications/tasks/status")).toBe(isAllowed);
  });
});
