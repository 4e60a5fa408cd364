// What the dashboard keeps of followed clients: nothing of others, and no more than docs/reference/limits.md says.
import { McpServer } from "halyard";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { holdClocks } from "../support/clock.ts";
import { type Line, type Page, serveWithPage } from "../support/following.ts";
import { type Probes, probeLimits } from "../support/limit-probes.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

function makeServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("hello", { input: z.object({ large: z.string().optional() }) }, () => "Hello");
  server.tool("count", { input: z.object({ to: z.number() }) }, ({ to }, ctx) => {
    for (let at = 1; at <= to; at++) ctx.progress(at, to);
    return "done";
  });
  return server;
}

/** A followed session. */
async function followSession(
  revision?: string,
): Promise<{ client: SessionClient; page: Page; peer: string }> {
  const { url, page } = await serveWithPage(makeServer());
  const client = await SessionClient.open({ url }, { ...(revision && { revision }) });
  const [peer = ""] = await page.peers();
  await page.timeline(peer);
  return { client, page, peer };
}

test("nothing of a client before it is followed", async () => {
  const { client, page, peer: first } = await followSession();
  const other = await SessionClient.open(client);
  await other.request("tools/call", { name: "hello", arguments: {} });
  await client.request("tools/list");
  const second = (await page.peers()).find((peer) => peer !== first) ?? "";
  expect(await page.recording(second)).toMatchObject({ lines: [], dropped: 0 });
  expect(await page.entries(second)).toEqual([]);
  expect(await page.recording(second)).toMatchObject({ lines: [], dropped: 0 });
  expect((await page.entries(first)).map(({ kind }) => kind)).toEqual(["tools/list"]);
});

test("the past of every client, with history", async () => {
  const { url, page } = await serveWithPage(makeServer(), { history: 6 });
  const client = await SessionClient.open({ url });
  await client.request("tools/list");
  await client.request("tools/call", { name: "hello", arguments: {} });
  const [peer = ""] = await page.peers();
  const kinds = (await page.entries(peer)).map(({ kind }) => kind);
  expect(kinds).toContain("tools/call");
  expect(kinds).not.toContain("initialize");
  expect((await page.recording(peer)).lines.map(methodOf)).toContain("tools/list");
});

test("marks leave out what has not changed", async () => {
  const { client, page, peer } = await followSession();
  await client.request("ping");
  const { entries, mark } = await page.timeline(peer);
  expect(entries).toHaveLength(1);
  expect((await page.timeline(peer, mark)).entries).toEqual([]);
  await client.request("tools/list");
  expect((await page.timeline(peer, mark)).entries.map(({ kind }) => kind)).toEqual(["tools/list"]);
});

/** By the limit's name in the table: what happens at the limit, and past it. */
const probes: Probes = {
  async "clients followed at once"(limit) {
    const { client: first, page, peer } = await followSession();
    const clients = [{ client: first, peer }];
    while (clients.length <= limit) {
      const client = await SessionClient.open(first);
      const known = new Set(clients.map((each) => each.peer));
      const added = (await page.peers()).find((each) => !known.has(each)) ?? "";
      clients.push({ client, peer: added });
      await page.timeline(added);
    }
    for (const { client } of clients) await client.request("ping");
    const kept = await Promise.all(clients.map((each) => page.recording(each.peer)));
    expect(kept.map(({ lines }) => lines.length)).toEqual([0, ...Array.from({ length: limit }, () => 2)]);
  },

  async "milliseconds without a question about a client"(limit) {
    holdClocks("setTimeout", "clearTimeout");
    const { client, page, peer } = await followSession();
    await client.request("ping");
    vi.advanceTimersByTime(limit - 5000);
    expect((await page.recording(peer)).lines).toHaveLength(2);
    await page.timeline(peer);
    vi.advanceTimersByTime(limit + 5000);
    expect((await page.recording(peer)).lines).toEqual([]);
  },

  async "entries of a timeline"(limit) {
    const { client, page, peer } = await followSession("2025-03-26");
    const stream = await client.get();
    onTestFinished(() => stream.cut());
    await until(async () => (await page.timeline(peer)).entries.length === 1);
    const told = { jsonrpc: "2.0", method: "notifications/roots/list_changed" };
    for (let at = 0; at < limit + 1000; at += 50) await client.say(Array.from({ length: 50 }, () => told));
    const entries = await page.entries(peer);
    expect([entries.length, (await page.timeline(peer)).dropped]).toEqual([limit, 1001]);
    // It is the oldest, and has not ended.
    expect(entries.filter(({ kind }) => kind === "get")).toHaveLength(1);
  },

  async "characters of each text of an entry"(limit) {
    const { client, page, peer } = await followSession();
    for (const length of [limit, limit + 1]) await client.request("x".repeat(length), {}, "y".repeat(limit));
    const texts = (await page.entries(peer)).map(({ kind, link }) => [kind, link?.length]);
    expect(texts).toEqual([
      ["x".repeat(limit), limit],
      [`${"x".repeat(limit - 1)}…`, limit],
    ]);
  },

  async "points of an entry"(limit) {
    const { client, page, peer } = await followSession();
    const params = { name: "count", arguments: { to: limit + 10 }, _meta: { progressToken: 1 } };
    await client.request("tools/call", params);
    const { points } = await page.entry(peer, "tools/call");
    expect([points.length, points[0]?.what]).toEqual([limit, `progress 11 of ${limit + 10}`]);
  },

  async "messages of a client"(limit) {
    const { client, page, peer } = await followSession();
    for (let at = 0; at < (limit + 1000) / 2; at += 50)
      await Promise.all(Array.from({ length: 50 }, () => client.request("ping")));
    const { lines, dropped } = await page.recording(peer);
    expect([lines.length, dropped]).toEqual([limit, 1000]);
  },

  async "characters of the messages of a client"(limit) {
    const { client, page, peer } = await followSession();
    const large = "x".repeat(500_000);
    const fit = Math.floor(limit / large.length);
    for (let at = 0; at <= fit; at++)
      await client.request("tools/call", { name: "hello", arguments: { large } });
    const { lines, dropped } = await page.recording(peer);
    expect(lines.filter((line) => JSON.stringify(line).length > large.length)).toHaveLength(fit);
    expect(dropped).toBeGreaterThan(0);
  },

  async "characters of a message"(limit) {
    const { client, page, peer } = await followSession();
    const call = async (length: number): Promise<void> =>
      void (await client.request(
        "tools/call",
        { name: "hello", arguments: { large: "x".repeat(length) } },
        7,
      ));
    const around = JSON.stringify({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "hello", arguments: { large: "" } },
    }).length;
    await call(limit - around);
    await call(limit - around + 1);
    expect(await page.entry(peer, "tools/call")).toMatchObject({ label: "hello", outcome: "ok" });
    const { lines, dropped } = await page.recording(peer);
    const sent = lines.filter(({ direction }) => direction === "sent");
    expect(sent.map(({ message }) => JSON.stringify(message).length)).toEqual([limit, expect.any(Number)]);
    expect(sent[1]?.message).toMatchObject({ params: { name: "hello", leftOut: expect.any(String) } });
    expect(dropped).toBe(1);
  },

  async "characters of history"(limit) {
    const { url, page } = await serveWithPage(makeServer(), { history: 10_000 });
    const client = await SessionClient.open({ url });
    const other = await SessionClient.open({ url });
    const large = "x".repeat(500_000);
    const fit = Math.floor(limit / large.length);
    for (let at = 0; at < fit; at++)
      await client.request("tools/call", { name: "hello", arguments: { large } });
    await other.request("ping");
    for (let at = 0; at < 2; at++)
      await client.request("tools/call", { name: "hello", arguments: { large } });
    const kinds = await Promise.all((await page.peers()).map((peer) => page.entries(peer)));
    const calls = kinds.flat().filter(({ kind }) => kind === "tools/call");
    expect(calls.length).toBeLessThan(fit);
    expect(calls.length).toBeGreaterThan(fit / 4);
    expect(kinds.flat().some(({ kind }) => kind === "ping")).toBe(true);
  },
};

probeLimits("Timelines of a dashboard", probes);

function methodOf({ message }: Line): unknown {
  return (message as { method?: unknown }).method;
}
