// Servers that were written for the official SDKs, moved to Halyard: an official client sees the same from both.
import { serveHttp } from "halyard/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { type InteropClient, officialClients, type Row } from "../interop/clients.ts";
import { eventually } from "../support/turns.ts";
import { serveOfficialInventory, serveOfficialNotebook, type Served } from "./serve-official.ts";
import { createInventory } from "./v1/halyard.ts";
import { createNotebook } from "./v2/halyard.ts";

/** What a client does, each step with what it sees. */
type Steps = Readonly<Record<string, (client: InteropClient) => Promise<unknown>>>;

const lists: Steps = {
  tools: async (client) => (await client.tools()).map(essentials),
  prompts: (client) => client.prompts(),
  resources: (client) => client.resourceUris(),
  templates: (client) => client.templateUris(),
  server: async ({ serverName, instructions }) => ({ serverName, instructions }),
};

const inventorySteps: Steps = {
  ...lists,
  "a tool with content": (client) => client.call("add_item", { name: "nut", quantity: 2 }),
  "a tool with several blocks": (client) => client.call("find_item", { name: "bolt" }),
  "a tool that fails": (client) => client.call("find_item", { name: "wing" }),
  "a tool with structured output": (client) => client.call("count_stock"),
  "arguments that do not fit": async (client) =>
    (await client.call("add_item", { name: "nut", quantity: 0.5 })).isError,
  "a prompt": (client) => client.messages("write_order", { name: "bolt", tone: "kind" }),
  "a prompt with fewer arguments": (client) => client.messages("write_order", { name: "bolt" }),
  "a resource": (client) => client.contents("inventory://summary"),
  "a resource by its template": (client) => client.contents("inventory://items/bolt"),
  completion: (client) =>
    client.complete({ type: "ref/resource", uri: "inventory://items/{name}" }, { name: "name", value: "b" }),
  subscription: (client) =>
    updates(client, "inventory://items/nut", () => client.call("add_item", { name: "nut", quantity: 1 })),
};

const notebookSteps: Steps = {
  ...lists,
  "a tool with content": (client) => client.call("write", { name: "plan", text: "Sail" }),
  "a tool with structured output": (client) => client.call("search", { query: "Sail" }),
  "a tool with an output schema that fails": (client) => client.call("search", { query: "Row" }),
  "a tool that embeds a resource": (client) => client.call("embed"),
  "arguments that do not fit": async (client) =>
    (await client.call("search", { query: "Sail", limit: 999 })).isError,
  "a prompt": (client) => client.messages("review", { name: "groceries" }),
  "a resource": (client) => client.contents("note://index"),
  "a resource by its template": (client) => client.contents("note://groceries"),
  completion: (client) =>
    client.complete({ type: "ref/resource", uri: "note://{name}" }, { name: "name", value: "g" }),
  subscription: (client) =>
    updates(client, "note://plan", () => client.call("write", { name: "plan", text: "Row" })),
};

const ports = [
  {
    port: "inventory, of version 1",
    official: serveOfficialInventory,
    halyard: createInventory,
    steps: inventorySteps,
    added: {},
  },
  {
    port: "notebook, of version 2",
    official: serveOfficialNotebook,
    halyard: createNotebook,
    steps: notebookSteps,
    // A prompt that says nothing else is described as it is in the list.
    added: { "a prompt": { description: "Reviews a note" } },
  },
];

describe.each(ports)("the $port", ({ official, halyard, steps, added }) => {
  // Version 1 has no modern era: there the port is held against what its legacy clients see.
  const reference = (row: Row): Row => {
    const isLegacyOnly = official === serveOfficialInventory && row.era === "modern";
    return (isLegacyOnly && officialClients.find(({ name }) => name === "client 2 by default")) || row;
  };

  test.each(officialClients)("is the same on Halyard for $name", async (row) => {
    const expected = await seenBy(reference(row), await official(), steps);
    for (const [name, more] of Object.entries(added)) Object.assign(expected[name] as object, more);
    const seen = await seenBy(row, await serveHttp(halyard(), { port: 0, graceMs: 200 }), steps);
    expect(seen).toEqual(expected);
    expect(Object.values(seen)).not.toContain(undefined);
  });
});

async function seenBy(row: Row, served: Served, steps: Steps): Promise<Record<string, unknown>> {
  onTestFinished(() => served.close());
  const client = await row.connect({ kind: "url", stats: () => ({}) as never, ...served });
  const seen: Record<string, unknown> = {};
  for (const [name, step] of Object.entries(steps)) seen[name] = withoutServerInfo(await step(client));
  await client.close();
  expect(client.errors).toEqual([]);
  return seen;
}

/** The updates of a resource that reach a client which watches it. */
async function updates(client: InteropClient, uri: string, change: () => Promise<unknown>): Promise<unknown> {
  const stop = await client.watch(uri);
  const heard = (): unknown[] =>
    client.heard
      .filter(({ method }) => method === "notifications/resources/updated")
      .map(({ params }) => params?.["uri"]);
  await change();
  await eventually(() => expect(heard()).not.toEqual([]));
  await stop();
  return heard();
}

/** What both SDKs publish of a tool in the same words: they choose their own dialect for the rest of its schemas. */
function essentials(tool: { readonly [key: string]: unknown }): unknown {
  const { name, title, description, annotations, inputSchema, outputSchema } = tool;
  return { name, title, description, annotations, input: shape(inputSchema), output: shape(outputSchema) };
}

function shape(schema: unknown): unknown {
  if (schema === undefined) return undefined;
  const {
    type,
    properties = {},
    required = [],
  } = schema as { type: string; properties?: object; required?: string[] };
  return { type, properties: Object.keys(properties), required };
}

/** A modern result says which server it comes from; the rest of its metadata is the author's. */
function withoutServerInfo(seen: unknown): unknown {
  const text = JSON.stringify(seen, (key, value: unknown) => {
    if (key === "io.modelcontextprotocol/serverInfo") return undefined;
    return key === "_meta" &&
      Object.keys(value as object).every((name) => name.startsWith("io.modelcontextprotocol/"))
      ? undefined
      : value;
  });
  return JSON.parse(text) as unknown;
}
