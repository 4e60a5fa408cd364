// Names that mean more to JavaScript, or to a careless parser, than they say.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { ConfigurationError, type JsonObject } from "halyard";
import { RpcRejection } from "halyard/testing";
import { expect, onTestFinished } from "vitest";
import { call, makeServer, refusal, textOf } from "../../support/catalogue.ts";
import { modernPost } from "../../support/http.ts";
import { modernCall } from "../../support/http-server.ts";
import { until } from "../../support/turns.ts";
import { type HttpDoor, type MountName, openDoor } from "../mounts.ts";
import type { MessageRow } from "../row.ts";

/** Echoes its arguments as they are, own keys only. */
function echoServer() {
  const { server } = makeServer();
  server.tool("echo", { input: { type: "object" } }, (args) => JSON.stringify(args));
  return server;
}

const inherited = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

/** JSON that `String()` throws at. */
const noText = { toString: 1, valueOf: 1 };

/** Every place where a text is expected, with something else in it. */
const misplaced: readonly [method: string, params: JsonObject][] = [
  ["tools/call", { name: noText }],
  ["tools/call", { name: "region", arguments: { region: noText } }],
  ["tools/call", { name: "sample", inputResponses: { s: sampled(noText) } }],
  ["tools/call", { name: "sample", inputResponses: { s: { ...sampled("x"), role: noText, model: noText } } }],
  ["tools/call", { name: "sample", inputResponses: { s: noText }, requestState: noText }],
  ["tools/call", { name: "echo", task: { ttl: noText }, _meta: { progressToken: noText } }],
  ["prompts/get", { name: noText, arguments: { a: noText } }],
  ["prompts/get", { name: "p", arguments: { a: noText } }],
  ["resources/read", { uri: noText }],
  ["resources/subscribe", { uri: noText }],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: noText }, argument: { name: noText, value: noText } },
  ],
  ["completion/complete", { ref: { type: noText, uri: noText }, argument: { name: "a", value: "" } }],
  ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: noText } }],
  ["tools/list", { cursor: noText }],
  ["tasks/list", { cursor: noText }],
  ["tasks/get", { taskId: noText }],
  ["tasks/update", { taskId: noText, inputResponses: { x: noText } }],
  ["logging/setLevel", { level: noText }],
  ["subscriptions/listen", { notifications: { resourceSubscriptions: [noText], taskIds: [noText] } }],
];

/** The errors that say that it is the client's: bad parameters, no such method, headers that differ; without scopes, a refusal. */
const mistakes = (mount: MountName): number[] =>
  mount === "stdio" ? [-32602, -32601, -32600] : [-32602, -32601, -32020];

function sampled(text: unknown): JsonObject {
  return { role: "assistant", content: { type: "text", text }, model: "m" };
}

export const nameRows: readonly MessageRow[] = [
  {
    over: "messages",
    name: "what has no way to become text, wherever a text belongs, is a mistake of the client and not of the server",
    async attack(mount) {
      const { server, log } = makeServer();
      const scopes = { scopes: ["read"] };
      const region = { type: "string", "x-mcp-header": "Region" } as const;
      server.tool("region", { input: { type: "object", properties: { region } }, ...scopes }, () => "");
      server.tool("echo", { input: { type: "object" }, task: "optional" }, () => "");
      server.tool("sample", {}, async (_, ctx) => (await ctx.sample("?", { key: "s" })).text);
      const args = { type: "object", properties: { a: { type: "string" } } } as const;
      server.prompt("p", { arguments: args, complete: { a: () => ["x"] }, ...scopes }, () => "");
      server.resource("note:///x", scopes, () => "");
      const principal = { issuer: "https://issuer.example", subject: "s", scopes: ["read"] };
      const door = await openDoor(mount, server, { auth: () => principal });
      const capabilities = { sampling: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
      const clients = [await door.connect({ capabilities })];
      if (mount !== "HTTP+SSE") clients.push(await door.connect({ revision: "2026-07-28", capabilities }));
      for (const client of clients) {
        for (const [method, params] of misplaced) {
          const name = client.era === "legacy" && params["name"] === "sample" ? "none" : params["name"];
          const given = name === undefined ? params : { ...params, name };
          const outcome = await client.request(method, given).catch((error: unknown) => error);
          const told = `${method} ${JSON.stringify(params)}`;
          if (outcome instanceof RpcRejection) expect(mistakes(mount), told).toContain(outcome.code);
          // A server may ignore the request for a task, and reports wrong arguments to the model.
          else
            expect(JSON.stringify(outcome), told).toMatch(/"status":"working"|Invalid arguments|"text":""/);
        }
      }
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
      if ("port" in door) {
        const { headers, ...rest } = modernPost(modernCall(1, "region", { region: noText }));
        const reply = await (door as HttpDoor).send({
          ...rest,
          headers: { ...headers, "mcp-param-region": "x" },
        });
        expect(reply.status).toBe(400);
      }
    },
  },
  {
    over: "messages",
    name: "keys in another case are other keys",
    advisories: ["CVE-2026-27896"],
    async attack(mount) {
      const client = await (await openDoor(mount, echoServer())).connect();
      const said = async (text: string): Promise<unknown> => {
        const before = client.received.length;
        client.sendText(text);
        await until(() => client.received.length > before);
        return client.received.at(-1);
      };
      const wrong = (code: number): object => ({ error: { code } });
      expect(await said('{"JSONRPC":"2.0","id":50,"method":"ping"}')).toMatchObject(wrong(-32600));
      expect(await said('{"jsonrpc":"2.0","id":51,"method":"PING"}')).toMatchObject(wrong(-32601));
      expect(
        await said('{"jsonrpc":"2.0","id":52,"method":"tools/call","params":{"NAME":"echo","name":"none"}}'),
      ).toMatchObject(wrong(-32602));
      expect(
        await said(
          '{"jsonrpc":"2.0","id":53,"METHOD":"tools/call","method":"ping","PARAMS":{"name":"echo"}}',
        ),
      ).toMatchObject({ result: {} });
    },
  },
  {
    over: "messages",
    name: "a null character ends no text, and starts no other",
    advisories: ["GO-2026-4770"],
    async attack(mount) {
      const client = await (await openDoor(mount, echoServer())).connect();
      expect(await refusal(call(client, "echo\u0000"))).toMatchObject({ code: -32602 });
      expect(textOf(await call(client, "echo", { "a\u0000b": "c\u0000d" }))).toBe(
        '{"a\\u0000b":"c\\u0000d"}',
      );
    },
  },
  {
    over: "messages",
    name: "__proto__ and its like are names like any other: nothing is polluted, and nothing inherited is found",
    async attack(mount) {
      const client = await (await openDoor(mount, echoServer())).connect();
      for (const name of inherited) {
        expect(await refusal(client.request(name))).toMatchObject({ code: -32601 });
        expect(await refusal(call(client, name))).toMatchObject({ code: -32602 });
        expect(await refusal(client.request("resources/read", { uri: name }))).toMatchObject({
          code: -32601,
        });
      }
      client.sendText(
        '{"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"name":"echo","__proto__":{"name":"x"},"arguments":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}}',
      );
      const answer = await client.waitFor((message) => "id" in message && message.id === "p");
      expect(JSON.stringify(answer)).toContain('\\"__proto__\\":{\\"polluted\\":1}');
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  },
  {
    over: "messages",
    name: "of two keys of the same name every layer reads the same one",
    async attack(mount) {
      const client = await (await openDoor(mount, echoServer())).connect();
      client.sendText(
        '{"jsonrpc":"2.0","id":"1","id":"d","method":"ping","method":"tools/call","params":{"name":"none","name":"echo","arguments":{"a":1,"a":2}}}',
      );
      const answer = await client.waitFor((message) => "id" in message && message.id === "d");
      expect(JSON.stringify(answer)).toContain('{\\"a\\":2}');
      expect(client.received.some((message) => "id" in message && message.id === "1")).toBe(false);
    },
  },
  {
    over: "messages",
    name: 'ids come back as they came, and what cannot is none: 1 is not "1"',
    async attack(mount) {
      const client = await (await openDoor(mount, echoServer())).connect();
      for (const id of ["1", 7, "__proto__", "", -5, "\u0000", "9007199254740993"]) {
        await client.request("ping", {}, { id });
        expect(client.received.at(-1)).toMatchObject({ id });
      }
      const before = client.received.length;
      for (const id of ["1.5", "9007199254740993", "{}", "[1]", "true"])
        client.sendText(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      await until(() => client.received.length === before + 5);
      for (const message of client.received.slice(before))
        expect(message).toMatchObject({ error: { code: -32600 } });
    },
  },
  {
    over: "messages",
    name: "a $ref that leads out of a schema, or out of an argument, is never fetched",
    advisories: ["CVE-2026-116686", "CVE-2026-39885", "CVE-2026-59973", "CVE-2026-115751"],
    async attack(mount) {
      let fetched = 0;
      const http = createServer((_, response) => {
        fetched++;
        response.end("{}");
      }).listen(0, "127.0.0.1");
      await once(http, "listening");
      onTestFinished(() => void http.close());
      const $ref = `http://127.0.0.1:${(http.address() as AddressInfo).port}/schema.json`;
      const server = echoServer();
      for (const ref of [$ref, `${$ref}.`, "file:///etc/passwd", "//127.0.0.1/x"]) {
        const input = { type: "object", properties: { a: { $ref: ref } } } as const;
        expect(() => server.tool("outside", { input }, () => "")).toThrow(ConfigurationError);
      }
      const client = await (await openDoor(mount, server)).connect();
      expect(
        textOf(await call(client, "echo", { $ref, $schema: $ref, properties: { a: { $ref } } })),
      ).toContain($ref);
      expect(fetched).toBe(0);
    },
  },
];
