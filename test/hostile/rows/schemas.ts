// Plain JSON Schema: validation is fast for any input.
import type { JsonSchema } from "halyard";
import { RpcRejection, type TestClient } from "halyard/testing";
import { expect } from "vitest";
import { call, makeServer, textOf } from "../../support/catalogue.ts";
import { cpuTime } from "../../support/cpu-time.ts";
import { type MountName, openDoor } from "../mounts.ts";
import type { MessageRow } from "../row.ts";

/** The response: that the tool ran, or what is wrong with its arguments. */
async function outcome(client: TestClient, value: unknown): Promise<string> {
  try {
    return textOf(await call(client, "t", { value }));
  } catch (error) {
    if (error instanceof RpcRejection) return error.message;
    throw error;
  }
}

/** Sends a value for a schema to a mount: what comes back, and what the whole call costs, parsing and HTTP included. */
async function send(mount: MountName, schema: JsonSchema, value: unknown): Promise<[string, number]> {
  const { server } = makeServer();
  server.tool("t", { input: { type: "object", properties: { value: schema } } }, () => "taken");
  const client = await (await openDoor(mount, server)).connect();
  await outcome(client, 0);
  let said = "";
  const cost = await cpuTime(async () => {
    said = await outcome(client, value);
  });
  return [said, cost];
}

/** Milliseconds for a call that sends much: parsing and sending it on a slow machine are most of it. */
const moment = 2000;

const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));
const nested = (depth: number): object => (depth === 0 ? {} : { next: nested(depth - 1) });
const branch = { type: "object", properties: { next: { $ref: "#/properties/value/$defs/node" } } };

export const schemaRows: readonly MessageRow[] = [
  {
    over: "messages",
    name: "a list past maxItems is refused before its items are compared",
    async attack(mount) {
      const list = many(60_000, (index) => index);
      const [said, cost] = await send(mount, { maxItems: 10, uniqueItems: true }, list);
      expect(said).toContain("value: must have at most 10 items");
      expect(cost).toBeLessThan(moment);
    },
  },
  {
    over: "messages",
    name: "the items of a long list are compared in one pass, whatever they are",
    async attack(mount) {
      const lists = [
        many(40_000, (index) => index / 7),
        many(40_000, (index) => `${index}`),
        many(8000, (index) => ({ a: [index], b: { c: index } })),
      ];
      for (const list of lists) {
        const [said, cost] = await send(mount, { uniqueItems: true }, list);
        expect(said).toBe("taken");
        expect(cost).toBeLessThan(moment);
      }
    },
  },
  {
    over: "messages",
    name: "a text that a backtracking matcher would try for ever is matched in one pass",
    async attack(mount) {
      const cases: [JsonSchema, string][] = [
        [{ pattern: "^[a-z0-9]+(-?[a-z0-9]+)*$" }, `${"a".repeat(100_000)}!`],
        [{ pattern: "(x+x+)+y" }, "x".repeat(100_000)],
        [{ format: "url" }, `http://${"a".repeat(239)}!`],
        [{ format: "url" }, `http://${"a".repeat(100_000)}!`],
        [{ format: "uri" }, `a:${"/b".repeat(100_000)}^`],
        [{ format: "email" }, `${"a".repeat(100_000)}@`],
        [{ format: "uri-template" }, `${"{a}".repeat(10_000)}{`],
      ];
      for (const [schema, text] of cases) {
        const [said, cost] = await send(mount, schema, text);
        expect(said).toMatch(/value: must (match|be in)/);
        expect(cost).toBeLessThan(moment);
      }
    },
  },
  {
    over: "messages",
    name: "alternatives at each of sixty levels are judged once each, not two to the sixty",
    async attack(mount) {
      const node = { anyOf: [{ ...branch, required: ["a"] }, { ...branch, required: ["b"] }, branch] };
      const schema = { $defs: { node }, $ref: "#/properties/value/$defs/node" };
      const [said, cost] = await send(mount, schema, nested(50));
      expect(said).toBe("taken");
      expect(cost).toBeLessThan(moment);
    },
  },
  {
    over: "messages",
    name: "a value that takes too many steps to validate is refused, and the reason is told",
    limit: "steps of a validation",
    async attack(mount) {
      const schema = { items: { oneOf: many(1000, (index) => ({ const: index })) } };
      const [said, cost] = await send(
        mount,
        schema,
        many(20_000, () => 999),
      );
      expect(said).toContain("too many steps");
      expect(cost).toBeLessThan(moment);
    },
  },
  {
    over: "messages",
    name: "a pattern that has to backtrack is not tried on a long text",
    limit: "characters for a backtracking pattern",
    async attack(mount) {
      const [said, cost] = await send(mount, { pattern: "(?=a)(a+)+$" }, `${"a".repeat(300)}!`);
      expect(said).toContain("at most 256 characters");
      expect(cost).toBeLessThan(moment);
    },
  },
];
