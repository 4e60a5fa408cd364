// The official clients begin and end sessions through every mount.
import { expect, test } from "vitest";
import { eventually } from "../support/turns.ts";
import { officialClients } from "./clients.ts";
import { rowsOf } from "./rows.ts";
import { httpWays, type Target } from "./ways.ts";

const rows = rowsOf(httpWays);
const legacyRows = rows.filter(({ era }) => era === "legacy");
const modernRows = rows.filter(({ era }) => era === "modern");
const eras = httpWays.map(({ way, start }) => ({ way, start }));

test.each(legacyRows)(
  "DELETE ends the session of $name over $way, and what it sends under it then fails [SESS-ASSIGN, SESS-TERMINATED-404]",
  async ({ nodes, start, connect }) => {
    const target = await start("demo");
    const client = await connect(target);
    // One, or a copy on each node that has served it.
    expect(open(target).sessions).toSatisfy((sessions: number) => sessions >= 1 && sessions <= nodes);
    const id = await client.endSession();
    expect(id).toMatch(/^[\x21-\x7e]{43}$/);
    await eventually(() => expect(open(target).sessions).toBe(0));
    const late = await post(target, { "mcp-session-id": id ?? "" });
    expect(late.status).toBe(404);
    await client.close();
    await target.close();
  },
);

test.each(modernRows)(
  "no session is made for $name over $way [SESS-MODERN-NONE]",
  async ({ start, connect }) => {
    const target = await start("demo");
    const client = await connect(target);
    await client.toolNames();
    expect(await client.endSession()).toBeUndefined();
    expect(open(target).sessions).toBe(0);
    await client.close();
    await target.close();
  },
);

test.each(eras)(
  "clients of both eras share one endpoint over $way, and each is notified of a change once [VER-DUAL-SERVER-MAY, VER-DUAL-SERVER-SELECT-MODERN, VER-DUAL-SERVER-SELECT-LEGACY, HTTP-ENDPOINT-SINGLE, HTTP-MULTI-NO-BROADCAST]",
  async ({ start }) => {
    const target = await start("demo");
    const clients = await Promise.all(officialClients.map(({ connect }) => connect(target)));
    const stops = await Promise.all(clients.map((client) => client.watch("note:///shared")));
    // Every stream is open: those of the listen requests, and one GET stream of each session.
    await eventually(() => expect(open(target).streams).toBe(clients.length));
    await clients[0]?.call("write_note", { id: "shared", text: "For all" });
    const updates = (): number[] =>
      clients.map(
        ({ heard }) => heard.filter(({ method }) => method === "notifications/resources/updated").length,
      );
    await eventually(() => expect(updates()).toEqual(clients.map(() => 1)));
    await Promise.all(stops.map((stop) => stop()));
    await eventually(() => expect(open(target).subscriptions).toBe(0));
    for (const client of clients) expect(client.errors).toEqual([]);
    await Promise.all(clients.map((client) => client.close()));
    await target.close();
  },
);

function open(target: Target): { sessions: number; streams: number; subscriptions: number } {
  if (target.kind !== "url") throw new Error("Only what is served over HTTP counts what is open");
  return target.stats();
}

async function post(target: Target, headers: Record<string, string>): Promise<Response> {
  return fetch(target.kind === "url" ? target.url : "", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
}
