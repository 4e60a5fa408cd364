// How a client checks structured results against the output schemas of tools, and which schemas it does not trust.
import { McpServer } from "halyard";
import { type ClientEvent, connect, type ConnectOptions, OutputMismatch } from "halyard/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { legacyDates, newestLegacy, newestModern } from "../support/revisions.ts";
import { ScriptedServer } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

afterEach(() => void vi.unstubAllGlobals());

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

interface Fixture {
  readonly server: ScriptedServer;
  readonly problems: () => string[];
  readonly ignored: () => string[];
  call(options?: { strict?: boolean }): Promise<unknown>;
  close(): Promise<void>;
}

/** A server with the tool "t", whose schema and result the test gives. */
async function fixture(
  outputSchema: unknown,
  result: object,
  options: ConnectOptions = {},
): Promise<Fixture> {
  const { revision = newestModern } = options;
  const server = new ScriptedServer({ revision });
  server.on("tools/list", () => ({ tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }] }));
  server.on("tools/call", () => ({ content: [], ...result }));
  const events: ClientEvent[] = [];
  const observe = (event: ClientEvent): void => void events.push(event);
  const client = await connect(server, { ...options, revision, observe });
  return {
    server,
    problems: () => events.flatMap((event) => (event.type === "mismatch" ? [event.problem] : [])),
    ignored: () => events.flatMap((event) => (event.type === "ignored" ? [event.reason] : [])),
    call: (callOptions) => client.callTool("t", {}, callOptions),
    close: () => client.close(),
  };
}

const matching = { structuredContent: { n: 1 } };
const wrong = { structuredContent: { n: "one" } };

describe("results", () => {
  test("a mismatch is reported, and the result kept [TOOL-STRUCTURED-CLIENT-VALIDATE]", async () => {
    const { call, problems, close } = await fixture(schema, wrong);
    expect(await call()).toMatchObject(wrong);
    await until(() => problems().length === 1);
    expect(problems()).toEqual(["n: must be an integer, not a string"]);
    expect(await call()).toMatchObject(wrong);
    expect(problems()).toHaveLength(2);
    await close();
  });

  test("with strict it throws OutputMismatch, which has the result; the call's option is stronger than the client's", async () => {
    const { call, problems, close } = await fixture(schema, wrong, { strict: true });
    const error = await call().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OutputMismatch);
    expect(error).toMatchObject({ result: wrong });
    expect(String(error)).toContain("n: must be an integer");
    expect(await call({ strict: false })).toMatchObject(wrong);
    expect(problems()).toHaveLength(1);
    await close();
  });

  test("a matching result is returned, and the schema is listed once", async () => {
    const { call, problems, server, close } = await fixture(schema, matching, { strict: true });
    for (let count = 0; count < 3; count++) expect(await call()).toMatchObject(matching);
    expect(problems()).toEqual([]);
    expect(server.of("tools/list")).toHaveLength(1);
    await close();
  });

  test("a result with isError is not checked, and one without structured content is if the schema is known", async () => {
    const failed = await fixture(schema, { ...wrong, isError: true }, { strict: true });
    await failed.call();
    expect(failed.server.of("tools/list")).toEqual([]);
    await failed.close();
    const missing = await fixture(schema, {}, { strict: true });
    await missing.call();
    expect(missing.server.of("tools/list")).toEqual([]);
    missing.server.on("tools/call", () => ({ content: [], ...matching }));
    await missing.call();
    missing.server.on("tools/call", () => ({ content: [] }));
    await expect(missing.call()).rejects.toThrow("there is no structured content");
    await missing.close();
  });

  test("the first result does not wait for the list of tools, unless strict", async () => {
    const { call, server, problems, close } = await fixture(schema, wrong);
    const listed = deferred<object>();
    server.on("tools/list", () => listed.promise);
    expect(await call()).toMatchObject(wrong);
    await until(() => server.of("tools/list").length === 1);
    listed.resolve({ tools: [{ name: "t", inputSchema: {}, outputSchema: schema }] });
    await until(() => problems().length === 1);
    await close();
  });

  test("after a change the new schema counts", async () => {
    const { call, server, close } = await fixture(schema, matching, { strict: true });
    await call();
    const outputSchema = { properties: { n: { type: "string" } } };
    server.on("tools/list", () => ({ tools: [{ name: "t", inputSchema: {}, outputSchema }] }));
    server.on("tools/call", () => ({ content: [], ...wrong }));
    server.end.notify("notifications/tools/list_changed");
    await nextTurn();
    expect(await call()).toMatchObject(wrong);
    await close();
  });

  test("a list that fails, or does not have the tool, checks nothing and is not repeated at once", async () => {
    for (const list of [{}, { tools: [] }]) {
      const { call, server, close } = await fixture(schema, wrong, { strict: true });
      server.on("tools/list", () => list);
      await call();
      await call();
      expect(server.of("tools/list")).toHaveLength(1);
      await close();
    }
  });

  test("revisions without structured content check nothing", async () => {
    const revision = legacyDates.at(-1)!;
    const { call, server, close } = await fixture(schema, wrong, { strict: true, revision });
    expect(await call()).toMatchObject(wrong);
    expect(server.of("tools/list")).toEqual([]);
    await close();
  });

  test.each([newestModern, newestLegacy])(
    "a server of Halyard passes, on %s, also with output that is no object",
    async (revision) => {
      const server = new McpServer({ name: "demo", version: "1.0.0" });
      server.tool("sum", { output: z.object({ sum: z.int() }) }, () => ({ sum: 3 }));
      server.tool("list", { output: z.array(z.string()) }, () => ["a"]);
      await using client = await connect(server, { revision, strict: true });
      expect(await client.callTool("sum")).toMatchObject({ structuredContent: { sum: 3 } });
      await client.callTool("list");
    },
  );
});

describe.each(["2025-11-25", newestModern])("schemas on %s", (revision) => {
  test("without $schema the dialect is 2020-12, and a named one is followed [SCHEMA-DEFAULT-2020-12, SCHEMA-VALIDATE-DIALECT, SCHEMA-EXPLICIT-DIALECT]", async () => {
    // Draft 7 ignores what stands beside $ref, and has no prefixItems.
    const both = {
      $defs: { any: true },
      definitions: { any: true },
      properties: { n: { $ref: "#/definitions/any", type: "integer" } },
    };
    const modern = await fixture(both, wrong, { revision, strict: true });
    await expect(modern.call()).rejects.toThrow(OutputMismatch);
    await modern.close();
    const old = { $schema: "http://json-schema.org/draft-07/schema#", ...both };
    const seventh = await fixture(old, wrong, { revision, strict: true });
    await seventh.call();
    await seventh.close();
  });

  const deep = (levels: number): object => (levels === 0 ? {} : { items: deep(levels - 1) });
  const uncheckable: readonly (readonly [string, unknown, RegExp])[] = [
    ["of an unknown dialect", { $schema: "https://example.com/s" }, /dialect .* is not supported/],
    ["with a reference to another host", { $ref: "https://example.com/s.json" }, /never fetched/],
    ["with a reference to nothing", { $ref: "#/$defs/none" }, /has no target/],
    ["that refers to itself without end", { $ref: "#" }, /outputSchema/],
    ["with a keyword of a wrong type", { properties: 7 }, /outputSchema/],
    ["that is a text", "object", /is not an object/],
    ["that is null", null, /is not an object/],
    ["with too many values", { enum: Array.from({ length: 30_000 }, (_, n) => n) }, /more than 20000 values/],
    [
      "with a pattern that could take forever",
      { properties: { n: { pattern: "^(?=(a+)+$)b" } } },
      /could block/,
    ],
    [
      "with patterns that are too long",
      { properties: { n: { pattern: "(a{1000}){1000}" } } },
      /outputSchema/,
    ],
  ];

  test.each(uncheckable)(
    "a schema %s is reported once, and its results are not checked [SCHEMA-UNSUPPORTED-DIALECT, SCHEMA-VALIDATE-DIALECT, SCHEMA-REF-NO-NETWORK, SCHEMA-REF-OPTIN-OFF, SCHEMA-REF-UNRESOLVED-REJECT, TOOL-SEC-REF, SCHEMA-BOUNDS]",
    async (_, outputSchema, reason) => {
      const fetched = vi.fn();
      vi.stubGlobal("fetch", fetched);
      const { call, ignored, close } = await fixture(
        outputSchema,
        { structuredContent: { n: "a".repeat(200) } },
        { revision, strict: true },
      );
      await call();
      await call();
      await nextTurn();
      expect(ignored()).toHaveLength(1);
      expect(ignored()[0]).toMatch(/^The results of the tool "t" are not checked: its outputSchema /);
      expect(ignored()[0]).toMatch(reason);
      expect(fetched).not.toHaveBeenCalled();
      await close();
    },
  );

  test("a schema that would take exponential time ends at the limit of the validator [SCHEMA-BOUNDS]", async () => {
    // Each level tries the next one twice.
    const levels = Array.from({ length: 60 }, (_, n) => [
      `l${n}`,
      { anyOf: [{ allOf: [{ $ref: `#/$defs/l${n + 1}` }, false] }, { $ref: `#/$defs/l${n + 1}` }] },
    ]);
    const $defs = { ...Object.fromEntries(levels), l60: { required: ["x"] } };
    const { call, close } = await fixture({ $defs, $ref: "#/$defs/l0" }, matching, {
      revision,
      strict: true,
    });
    await expect(call()).rejects.toThrow(OutputMismatch);
    await close();
  });

  test("a deep schema is checked or reported, and breaks nothing [SCHEMA-BOUNDS]", async () => {
    const { call, close } = await fixture(deep(190), matching, { revision, strict: true });
    expect(await call()).toMatchObject(matching);
    await close();
  });
});
