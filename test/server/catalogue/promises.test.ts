// A promise inside a result, which JSON would write as {}: refused, and the log names its place.
import { audio, image, type McpServer, result, text } from "halyard";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { makeServer, open, refusal } from "../../support/catalogue.ts";
import { type Cell, cells, describeMatrix } from "../../support/matrix.ts";

type Say = (server: McpServer, returned: () => unknown) => unknown;
type Row = [place: string, returned: () => unknown];

const [newest] = cells({ transports: ["memory"] }) as [Cell];
/** A promise where the compiler wants none. */
const later = (value: unknown = "later"): never => Promise.resolve(value) as never;
const said = (content: unknown): object => ({ role: "user", content });
const anything = z.object({ rows: z.unknown() });
const counted = z.object({ rows: z.number() });

const tool: Say = (server, returned) => server.tool("x", {}, returned as never);
const counting: Say = (server, returned) => server.tool("x", { output: counted }, returned as never);
const publishing: Say = (server, returned) => server.tool("x", { output: anything }, returned as never);
const prompt: Say = (server, returned) => server.prompt("x", {}, returned as never);
const resource: Say = (server, returned) => server.resource("x:y", {}, returned as never);

const requests = {
  Tool: ["tools/call", { name: "x" }, "Tool x returned an invalid result"],
  Output: ["tools/call", { name: "x" }, "Tool x returned a value that does not match its output schema"],
  Prompt: ["prompts/get", { name: "x" }, "Prompt x returned an invalid result"],
  Resource: ["resources/read", { uri: "x:y" }, "Resource x:y returned an invalid result"],
} as const;

const kinds: [kind: keyof typeof requests, say: Say, rows: Row[]][] = [
  [
    "Tool",
    tool,
    [
      ["content", () => ({ content: later([]) })],
      ["content[0]", () => ({ content: [later()] })],
      ["content[1]", () => [text("a"), later(text("b"))]],
      ["content[0].text", () => ({ content: [{ type: "text", text: later() }] })],
      ["content[0].text", () => text(later())],
      ["content[0].data", () => image(later(), "image/png")],
      ["content[0].data", () => audio(later(), "audio/wav")],
      ["content[0].resource", () => [{ type: "resource", resource: later() }]],
      ["content[0].resource.text", () => [{ type: "resource", resource: { uri: "a:b", text: later() } }]],
      ["content[0].annotations", () => [{ ...text("a"), annotations: later() }]],
      ["content[0]._meta.trace", () => [{ ...text("a"), _meta: { trace: later() } }]],
      ["isError", () => ({ content: [], isError: later(false) })],
      ["_meta", () => ({ content: [], _meta: later({}) })],
      ["structuredContent", () => ({ content: [], structuredContent: later({}) })],
      ["structuredContent.rows[1].id", () => ({ structuredContent: { rows: [{ id: 1 }, { id: later() }] } })],
      ["structuredContent", () => result({ structured: later({}) })],
      ["rows", () => ({ rows: later() })],
    ],
  ],
  ["Tool", counting, [["content", () => ({ content: later([]), structuredContent: { rows: 3 } })]]],
  [
    "Output",
    counting,
    [
      ["structuredContent", () => ({ content: [], structuredContent: later({ rows: 3 }) })],
      ["structuredContent.rows", () => ({ rows: later(3) })],
    ],
  ],
  ["Tool", publishing, [["structuredContent.rows", () => ({ rows: later(3) })]]],
  [
    "Prompt",
    prompt,
    [
      ["messages", () => ({ messages: later([]) })],
      ["messages[0]", () => [later(said(text("a")))]],
      ["messages[0].content", () => [said(later(text("a")))]],
      ["messages[0].content.text", () => [said(text(later()))]],
      ["messages[0].content.text", () => text(later())],
      ["description", () => ({ messages: [], description: later() })],
    ],
  ],
  [
    "Resource",
    resource,
    [
      ["contents", () => ({ contents: later([]) })],
      ["contents[0]", () => [later({ uri: "x:y", text: "a" })]],
      ["contents[0].text", () => ({ uri: "x:y", text: later() })],
      ["contents[0].blob", () => ({ contents: [{ uri: "x:y", blob: later() }] })],
      ["text", () => ({ text: later() })],
    ],
  ],
];

const rows = kinds.flatMap(([kind, say, all]) =>
  all.map(([place, returned]) => ({ kind, say, place, returned, written: String(returned).slice(6) })),
);

describe("a promise in a result", () => {
  test.each(rows)("$kind: $place is a promise: $written", async ({ kind, say, place, returned }) => {
    const { server, log } = makeServer();
    say(server, returned);
    const client = await open(newest, server);
    const [method, params, problem] = requests[kind];
    const { code, message } = await refusal(client.request(method, params));
    expect(code).toBe(-32603);
    expect(message).toMatch(new RegExp(`^${problem} \\(error id `));
    expect(String(log.at(-1)?.details?.["error"])).toBe(
      `TypeError: ${problem}: ${place} is a promise: await it`,
    );
  });
});

describeMatrix("a promise in a result", {}, (cell) => {
  test("is refused for every revision, and a promise as the whole result is awaited", async () => {
    const { server, log } = makeServer();
    server.tool("inside", {}, () => ({ content: later([]) }) as never);
    server.tool("whole", {}, () => later({ content: [text("done")] }));
    server.method("acme/find", {}, () => ({ found: later() }));
    const client = await open(cell, server);
    expect((await refusal(client.request("tools/call", { name: "inside" }))).code).toBe(-32603);
    expect(await client.request("tools/call", { name: "whole" })).toMatchObject({ content: [text("done")] });
    expect((await refusal(client.request("acme/find"))).code).toBe(-32603);
    expect(log.map(({ details }) => String(details?.["error"]))).toEqual([
      "TypeError: Tool inside returned an invalid result: content is a promise: await it",
      "TypeError: Method acme/find returned an invalid result: found is a promise: await it",
    ]);
  });
});
