// A modern call needs no other node: it is served while any node lives, with a backplane or without.
import { TestClient } from "halyard/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpWire } from "../support/http-client.ts";
import { until } from "../support/turns.ts";
import { Nodes } from "./nodes.ts";

const revision = "2026-07-28";
let nodes: Nodes;

beforeAll(async () => {
  nodes = await Nodes.start();
}, 60_000);

afterAll(() => nodes.stop());

/** Greets through the balancer, or through the node that is named. */
async function greet(name: string, headers: Record<string, string> = {}): Promise<unknown> {
  const port = Number(new URL(nodes.url).port);
  const client = new TestClient(new HttpWire(port, revision, async () => {}, headers), { revision });
  const { content } = await client.request("tools/call", { name: "greet", arguments: { name } });
  return content;
}

const greeting = (name: string): unknown => [{ type: "text", text: `Hello, ${name}!` }];

test("modern calls go round, past a node that was killed, and to it again once it is back", async () => {
  for (const name of ["Ada", "Bob", "Cy"]) expect(await greet(name)).toEqual(greeting(name));
  expect(Object.fromEntries(nodes.balancer.counts)).toEqual({ a: 1, b: 1, c: 1 });
  await nodes.kill("b");
  for (const name of ["Dee", "Eve", "Fay"]) expect(await greet(name)).toEqual(greeting(name));
  expect(nodes.balancer.counts.get("b")).toBe(1);
  await nodes.start("b");
  expect(await greet("Gus", { "x-node": "b" })).toEqual(greeting("Gus"));
});

test("a node that hangs holds its own calls until it continues", async () => {
  nodes.node("c").pause();
  const sent = nodes.balancer.counts.get("c") ?? 0;
  let isHeld = true;
  const held = greet("Hal", { "x-node": "c" }).finally(() => (isHeld = false));
  await until(() => nodes.balancer.counts.get("c") === sent + 1);
  expect(await greet("Ida", { "x-node": "a" })).toEqual(greeting("Ida"));
  expect(isHeld).toBe(true);
  nodes.node("c").resume();
  expect(await held).toEqual(greeting("Hal"));
});

test("a node that is taken out of the balancer ends in good order", async () => {
  expect(await nodes.stopNode("a")).toBe(0);
  for (const name of ["Jon", "Kim", "Lee"]) expect(await greet(name)).toEqual(greeting(name));
});
