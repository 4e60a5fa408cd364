// Definitions that name scopes, and tokens of the same user that lack them: nothing of a task, a stream or a resource gets out.
import { type JsonObject, McpServer, type ServerOptions } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect, onTestFinished } from "vitest";
import { nameForm } from "../../support/asking-server.ts";
import { makeServer, refusal } from "../../support/catalogue.ts";
import { openGet, post, type Session } from "../../support/http.ts";
import type { HttpReply } from "../../support/http-reply.ts";
import { listen, settled } from "../../support/listen.ts";
import { deferred, until } from "../../support/turns.ts";
import { type Door, type HttpDoor, openDoor, openHttp, saysToBe } from "../mounts.ts";
import type { Row } from "../row.ts";

const noTasks = { "HTTP+SSE": "is of a revision without tasks" } as const;
const noUsers = { stdio: "has one client, whose process started the server" } as const;
const oneStream = { "HTTP+SSE": "has one stream for each session" } as const;

const forms = { core: "2025-11-25", extension: "2026-07-28" } as const;
const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };
const unknownId = "00000000-0000-4000-8000-000000000000";
const accepted = { action: "accept", content: { name: "Eve" } };

/** `long` waits for the gate, `asking` for a name; both are for those who may write, and `open` is for everybody. */
function scopedTasks(options: ServerOptions = {}) {
  const { server } = makeServer(options);
  const gate = deferred();
  const scopes = ["write"];
  const long = server.tool("long", { task: "optional", scopes }, async (_, ctx) => {
    ctx.progress(1, 2, "halfway");
    await gate.promise;
    return "finished";
  });
  server.tool("asking", { task: "optional", scopes }, async (_, ctx) =>
    JSON.stringify(await ctx.elicit("Who?", nameForm, { key: "who" })),
  );
  server.tool("open", { task: "optional" }, () => "open");
  onTestFinished(() => gate.resolve());
  return { server, gate, long };
}

const alice = (door: Door, form: keyof typeof forms, scopes?: string): Promise<TestClient> =>
  door.connect({ revision: forms[form], capabilities, user: "alice", ...(scopes && { scopes }) });

async function begin(client: TestClient, name: string): Promise<string> {
  const wish = client.era === "legacy" ? { task: {} } : {};
  const result = await client.request("tools/call", { name, ...wish });
  return String(((result["task"] ?? result) as JsonObject)["taskId"]);
}

const statusOf = async (client: TestClient, taskId: string): Promise<unknown> =>
  (await client.request("tasks/get", { taskId }))["status"];

const questions: Readonly<Record<keyof typeof forms, readonly [method: string, params: JsonObject][]>> = {
  core: [
    ["tasks/get", {}],
    ["tasks/result", {}],
    ["tasks/cancel", {}],
  ],
  extension: [
    ["tasks/get", {}],
    ["tasks/update", { inputResponses: { who: accepted } }],
    ["tasks/cancel", {}],
  ],
};

/** The response of each method to a caller who must not see the task. */
async function saidOf(client: TestClient, form: keyof typeof forms, taskId: string): Promise<unknown[]> {
  const said: unknown[] = [];
  for (const [method, params] of questions[form]) {
    const { code, message, data } = await refusal(client.request(method, { ...params, taskId }));
    said.push({ code, message, data });
  }
  return said;
}

const answerTo = (id: unknown): JsonObject => ({ jsonrpc: "2.0", id, result: accepted });
const methodsOn = (stream: HttpReply): unknown[] =>
  stream.messages.flatMap((message) => ("method" in message ? [message.method] : []));
const idOf = (stream: HttpReply, method: string): unknown =>
  stream.messages.find((message) => "method" in message && message.method === method)?.["id" as never];

/** A session of Alice's, and what she says in it with one token or another. */
async function sharedSession(door: HttpDoor, revision: string) {
  const strong = saysToBe("alice", "write");
  const weak = saysToBe("alice");
  const reply = await door.send(
    post(
      {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: revision, capabilities, clientInfo: { name: "x", version: "1" } },
      },
      strong,
    ),
  );
  await reply.complete();
  const id = reply.headers["mcp-session-id"] ?? "";
  const session: Session = { id, headers: { "mcp-session-id": id } };
  let next = 1;
  const say = async (who: Record<string, string>, method: string, params: JsonObject): Promise<HttpReply> =>
    door.send(post({ jsonrpc: "2.0", id: next++, method, params }, { ...session.headers, ...who }));
  const hear = (who: Record<string, string>, more: Record<string, string> = {}): Promise<HttpReply> =>
    openGet(door, session, { ...who, ...more });
  return { session, strong, weak, say, hear };
}

const uri = "secret:///a";

/** Ways in which a public URI begins to need a scope. */
const laterScoped: Readonly<Record<string, (server: McpServer) => () => void>> = {
  "it was disabled": (server) => {
    const handle = server.resource(uri, { scopes: ["read"] }, () => "secret");
    handle.disable();
    return () => handle.enable();
  },
  "it got its scopes": (server) => {
    const handle = server.resource(uri, {}, () => "secret");
    return () => handle.update({ scopes: ["read"] });
  },
  "it was not there": (server) => () => {
    server.resource(uri, { scopes: ["read"] }, () => "secret");
  },
  "a template covers it": (server) => () => {
    server.resourceTemplate("secret:///{id}", { scopes: ["read"] }, () => "secret");
  },
  "a template got its scopes": (server) => {
    const handle = server.resourceTemplate("secret:///{id}", {}, () => "secret");
    return () => handle.update({ scopes: ["read"] });
  },
  "it is disabled still": (server) => {
    const handle = server.resourceTemplate("secret:///{id}", { scopes: ["read"] }, () => "secret");
    handle.disable();
    return () => {};
  },
};

export const scopeRows: readonly Row[] = [
  {
    over: "messages",
    name: "a token of the same user that lacks the scope of a task finds no task: by no method, in no list, in no cursor",
    leftOut: { ...noTasks, ...noUsers },
    async attack(mount) {
      const { server, gate, long } = scopedTasks({ pageSize: 1 });
      const door = await openDoor(mount, server);
      for (const form of ["core", "extension"] as const) {
        const strong = await alice(door, form, "write");
        const weak = await alice(door, form);
        const tasks = [await begin(strong, "long"), await begin(strong, "asking")];
        const open = await begin(weak, "open");
        await until(async () => (await statusOf(strong, tasks[1] ?? "")) === "input_required");
        const nothing = await saidOf(weak, form, unknownId);
        for (const taskId of tasks) expect(await saidOf(weak, form, taskId)).toEqual(nothing);
        // The task keeps the scopes that its call needed, whatever happens to the tool later.
        long.update({ scopes: [] });
        expect(await saidOf(weak, form, tasks[0] ?? "")).toEqual(nothing);
        if (form === "core") {
          const listed = await weak.request("tasks/list");
          expect(listed).toEqual({ tasks: [expect.objectContaining({ taskId: open })] });
          expect((await strong.request("tasks/list"))["nextCursor"]).toBeDefined();
        }
        expect(await statusOf(strong, tasks[0] ?? "")).toBe("working");
        expect(await statusOf(strong, tasks[1] ?? "")).toBe("input_required");
        long.update({ scopes: ["write"] });
      }
      gate.resolve();
    },
  },
  {
    over: "messages",
    name: "whoever listens to a task without its scope is told nothing of it",
    leftOut: { ...noTasks, ...noUsers },
    async attack(mount) {
      const { server, gate } = scopedTasks();
      const door = await openDoor(mount, server);
      const strong = await alice(door, "extension", "write");
      const weak = await alice(door, "extension");
      const taskId = await begin(strong, "long");
      expect(await listen(weak, { taskIds: [taskId] }, "weak")).toEqual({});
      expect(await listen(strong, { taskIds: [taskId] }, "strong")).toEqual({ taskIds: [taskId] });
      gate.resolve();
      await until(() => strong.notifications("notifications/tasks").length > 0);
      await settled(weak);
      expect(weak.notifications("notifications/tasks")).toEqual([]);
    },
  },
  {
    over: "http",
    name: "in one session, what a task tells and asks goes to no stream whose token lacks its scope",
    leftOut: { ...noTasks, ...oneStream },
    async attack(mount) {
      const { server, gate } = scopedTasks();
      const door = await openHttp(mount, server);
      const { strong, weak, say, hear, session } = await sharedSession(door, forms.core);
      const ours = await hear(strong);
      const theirs = await hear(weak);
      await (await say(strong, "tools/call", { name: "long", task: {} })).complete();
      await until(() => methodsOn(ours).includes("notifications/tasks/status"));
      await (await say(strong, "tools/call", { name: "asking", task: {} })).complete();
      await until(() => methodsOn(ours).includes("elicitation/create"));
      // An answer from a caller who may not call the tool is ignored.
      const id = idOf(ours, "elicitation/create");
      await door.send(post(answerTo(id), { ...session.headers, ...weak }));
      gate.resolve();
      await until(() => JSON.stringify(ours.messages).includes("completed"));
      expect(JSON.stringify(ours.messages)).not.toContain("Eve");
      const listed = await (await say(strong, "tasks/list", {})).answer();
      const { tasks } = listed.result as { readonly tasks: readonly JsonObject[] };
      const statuses = tasks.map(({ status }) => status);
      expect(statuses.toSorted()).toEqual(["completed", "input_required"]);
      await door.send(post(answerTo(id), { ...session.headers, ...strong }));
      await until(() => ours.messages.filter((it) => JSON.stringify(it).includes("completed")).length === 2);
      expect(theirs.messages).toEqual([]);
      // What waits while no stream is open is for no lesser token either.
      ours.abort();
      theirs.abort();
      await until(() => door.stats().streams === 0);
      await (await say(strong, "tools/call", { name: "long", task: {} })).complete();
      const back = await hear(weak);
      await (await say(weak, "tools/call", { name: "open", task: {} })).complete();
      await until(() => methodsOn(back).includes("notifications/tasks/status"));
      expect(JSON.stringify(back.messages)).not.toMatch(/halfway|finished/);
    },
  },
  {
    over: "http",
    name: "a stream that was read with a scope is not resumed without it",
    leftOut: oneStream,
    async attack(mount) {
      const { server } = makeServer();
      server.tool("long", { scopes: ["write"] }, async (_, ctx) => {
        ctx.progress(1, 2, "halfway");
        return "finished";
      });
      server.resource(uri, { scopes: ["write"] }, () => "secret");
      const door = await openHttp(mount, server);
      const { strong, weak, say, hear } = await sharedSession(door, "2025-06-18");
      const params = { name: "long", _meta: { progressToken: 1 } };
      const called = await (await say(strong, "tools/call", params)).complete();
      const first = called.events.find((event) => event.id !== undefined)?.id ?? "";
      expect((await hear(weak, { "last-event-id": first })).status).toBe(400);
      const resumed = await hear(strong, { "last-event-id": first });
      await until(() => resumed.text.includes("finished"));
      await (await say(strong, "resources/subscribe", { uri })).complete();
      const stream = await hear(strong);
      for (let count = 0; count < 2; count++) await server.resources.updated(uri);
      await until(() => stream.messages.length === 2);
      stream.abort();
      const lesser = await hear(weak, { "last-event-id": stream.events.at(0)?.id ?? "" });
      await server.push.publish("notifications/tools/list_changed");
      await until(() => methodsOn(lesser).includes("notifications/tools/list_changed"));
      expect(lesser.text).not.toContain(uri);
    },
  },
  ...Object.entries(laterScoped).map(([how, prepare]): Row => ({
    over: "messages",
    name: `whoever subscribed to what needs no scope is told nothing once it does: ${how}`,
    async attack(mount) {
      const { server } = makeServer({ capabilities: { resources: true } });
      const scopeIt = prepare(server);
      const door = await openDoor(mount, server);
      const readers: TestClient[] = [];
      const told = (client: TestClient | undefined): number =>
        client?.notifications("notifications/resources/updated").length ?? 0;
      for (const scopes of [undefined, "read"]) {
        const who = { user: "alice", ...(scopes && { scopes }) };
        const legacy = await door.connect(who);
        await legacy.request("resources/subscribe", { uri });
        readers.push(legacy);
        if (mount === "HTTP+SSE") continue;
        const modern = await door.connect({ ...who, revision: forms.extension });
        await listen(modern, { resourceSubscriptions: [uri] }, "l");
        readers.push(modern);
      }
      scopeIt();
      await server.resources.updated(uri);
      const [weak, strong] = [readers.slice(0, readers.length / 2), readers.slice(readers.length / 2)];
      // On streams that are not its parent's, stdio does not know who reads them.
      for (const client of mount === "stdio" ? [] : strong) await until(() => told(client) === 1);
      for (const client of mount === "stdio" ? readers : weak) {
        await settled(client);
        expect(told(client)).toBe(0);
      }
    },
  })),
  {
    over: "messages",
    name: "what is too long or too much is refused before it is matched against templates that name scopes",
    async attack(mount) {
      const { server } = makeServer();
      for (const end of ["", "/{b}", "/{b}/{c}", "{?q}"])
        server.resourceTemplate(`note:///{a}${end}`, { scopes: ["read"] }, () => "");
      const door = await openDoor(mount, server);
      const legacy = await door.connect({ user: "alice", scopes: "read" });
      const modern =
        mount === "HTTP+SSE"
          ? undefined
          : await door.connect({ revision: forms.extension, user: "alice", scopes: "read" });
      const long = `note:///${"a".repeat(2_000_000)}`;
      const many = Array.from({ length: 1000 }, (_, at) => `note:///${at}${"a".repeat(3000)}`);
      const requests: [TestClient | undefined, string, JsonObject][] = [
        [modern, "subscriptions/listen", { notifications: { resourceSubscriptions: many } }],
        [modern, "subscriptions/listen", { notifications: { resourceSubscriptions: [long] } }],
        [legacy, "resources/read", { uri: long }],
        [legacy, "resources/subscribe", { uri: long }],
        [legacy, "completion/complete", { ref: { type: "ref/resource", uri: long }, argument: {} }],
      ];
      const before = process.cpuUsage();
      for (const [client, method, params] of requests) {
        if (client === undefined) continue;
        // Nothing can be completed here.
        const code = method === "completion/complete" ? -32601 : -32602;
        expect(await refusal(client.request(method, params)), method).toMatchObject({ code });
      }
      const { user, system } = process.cpuUsage(before);
      // Both ends of every connection are in this process: some is for writing and parsing 14 MB.
      expect((user + system) / 1000).toBeLessThan(1500);
    },
  },
];
