// Names of the official client SDK: each row has the code, the whole error message, and the replacement.
import { McpServer } from "halyard";
import {
  connect,
  type ConnectOptions,
  isInputRequired,
  type McpClient,
  NoCommonRevision,
} from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { ScriptedServer } from "../support/scripted-wire.ts";

const server = new McpServer({ name: "deployer", version: "1.0.0" });
server.tool("deploy", {}, async (_, ctx) => {
  const { sure } = await ctx.elicit("Deploy?", z.object({ sure: z.boolean() }));
  return sure ? "Deployed" : "Kept";
});
server.tool("era", {}, (_, ctx) => ctx.era);

async function open(options: ConnectOptions = {}): Promise<McpClient> {
  const client = await connect(server, options);
  onTestFinished(() => client.close());
  return client;
}

const eras = 'pass revision: "auto", "modern", "legacy" or a date';

test.each<[string, unknown, string]>([
  ["versionNegotiation", { mode: "auto" }, eras],
  ["supportedProtocolVersions", [], eras],
  ["protocolVersion", "", "did you mean revision?"],
  ["prior", {}, "pass remembered: what client.remember() of an earlier client returned"],
  ["listChanged", {}, "call client.listen({ tools: true }, onChange)"],
  ["authProvider", {}, "pass auth: a token, or oauth() of halyard/client/oauth"],
  ["requestInit", {}, "pass headers"],
  ["autoFulfill", false, 'pass inputRequired: "return" to the call'],
])("connect with %s says what to pass", async (name, value, remedy) => {
  const error = await connect(server, { [name]: value }).catch((reason: unknown) => reason);
  expect((error as Error).message).toBe(`connect: ${name} is not an option: ${remedy}`);
});

test.each([
  ["toolsListChanged", "tools"],
  ["promptsListChanged", "prompts"],
  ["resourcesListChanged", "resourceList"],
  ["resourceSubscriptions", "resources"],
])("listen with %s says the name here", async (name, here) => {
  const client = await open();
  const error = await client.listen({ [name]: true }, () => {}).catch((reason: unknown) => reason);
  expect((error as Error).message).toBe(`listen: ${name} is called ${here} here`);
});

test("complete with one object shows its form", async () => {
  const client = await open();
  const ref = { type: "ref/prompt", name: "packing" };
  const given = { ref, argument: { name: "city", value: "O" } } as never;
  await expect(client.complete(given, undefined as never)).rejects.toThrow(
    /^complete takes its parts one by one: complete\(ref, argument, \{ context: \{ name: value \} \}\)$/,
  );
});

describe("an era", () => {
  test.each([
    ["modern", newestModern],
    ["legacy", newestLegacy],
  ])("is chosen with revision: %j, and both sides can read it", async (era, revision) => {
    const client = await open({ revision: era });
    expect([client.era, client.revision]).toEqual([era, revision]);
    expect((await client.callTool("era")).content).toEqual([{ type: "text", text: era }]);
  });

  test("of legacy servers takes each of their revisions, and no modern one", async () => {
    const old = new ScriptedServer({ revision: "2025-06-18" });
    const client = await connect(old, { revision: "legacy" });
    onTestFinished(() => client.close());
    expect(client.revision).toBe("2025-06-18");
    await expect(connect(old, { revision: "modern" })).rejects.toThrow(NoCommonRevision);
  });
});

describe("a client that answers by hand", () => {
  test("declares what it answers, and needs no handler", async () => {
    const client = await open({ capabilities: { elicitation: { form: {} } } });
    const asked = await client.callTool("deploy", {}, { inputRequired: "return" });
    if (!isInputRequired(asked)) throw new Error("There is no question");
    const [key = ""] = Object.keys(asked.inputRequests ?? {});
    expect(asked.inputRequests?.[key]).toMatchObject({ method: "elicitation/create" });
    const inputResponses = { [key]: { action: "accept", content: { sure: true } } };
    const { requestState } = asked;
    const params = { name: "deploy", arguments: {}, inputResponses, requestState };
    const done = await client.request("tools/call", params, { inputRequired: "return" });
    expect(isInputRequired(done)).toBe(false);
    expect(done["content"]).toEqual([{ type: "text", text: "Deployed" }]);
  });

  test("does not declare it to a legacy server, whose questions need a handler", async () => {
    const scripted = new ScriptedServer({ revision: newestLegacy });
    const client = await connect(scripted, { capabilities: { elicitation: {}, experimental: { x: {} } } });
    onTestFinished(() => client.close());
    expect(scripted.of("initialize")[0]?.params).toMatchObject({ capabilities: { experimental: { x: {} } } });
    expect(scripted.of("initialize")[0]?.params?.["capabilities"]).not.toHaveProperty("elicitation");
  });
});

test.each<
  [name: string, use: (client: Record<string, (...given: unknown[]) => unknown>) => unknown, says: string]
>([
  [
    "setNotificationHandler()",
    (client) => client["setNotificationHandler"]?.({}, () => {}),
    "client.listen(filter, onChange), or onLog or onNotification of connect()",
  ],
  [
    "subscribeResource()",
    (client) => client["subscribeResource"]?.({ uri: "note:///1" }),
    "client.listen({ resources: [uri] }, onChange)",
  ],
  ["getServerVersion()", (client) => client["getServerVersion"]?.(), "client.server"],
  ["onclose", (client) => (client["onclose"] = () => {}), 'client.on("state", callback)'],
  ["onerror", (client) => (client["onerror"] = () => {}), "observe of connect()"],
])("%s of a client says what to use", async (name, use, says) => {
  const client = await open();
  expect(() => use(client as never)).toThrow(new TypeError(`McpClient has no ${name}: use ${says}`));
});

test("a client that refuses other names still closes at the end of its block", async () => {
  await using client = await connect(server);
  expect(Object.keys(client)).toEqual([]);
});
