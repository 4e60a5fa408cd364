// Messages that are too much, that answer nothing, or that have another shape than the protocol allows.
import { connect, InvalidResponse, RpcRejection, ToolCallError } from "halyard/client";
import { expect } from "vitest";
import { failing, HttpScript, newestLegacy, newestModern, start } from "../../../support/http-script.ts";
import { metaOf, ScriptedServer } from "../../../support/scripted-wire.ts";
import { nextTurn } from "../../../support/turns.ts";
import type { Row } from "../row.ts";
import { attackVictim } from "../victim.ts";
import { expectAlive, responseText, wired } from "../wired.ts";

/** Texts that exceed each limit of a message, by that limit. */
const bombs: readonly (readonly [limit: string, text: string])[] = [
  ["maxDepth", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ["maxDepth", `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`],
  ["maxElements", `{"a":[${"1,".repeat(2_000_000)}1]}`],
  ["maxElements", `{${Array.from({ length: 1_000_001 }, (_, at) => `"${at}":0`).join(",")}}`],
  ["maxBytes", `{"a":"${"x".repeat(33 * 1024 * 1024)}"}`],
];

/** What a server may say instead of what the protocol says, as JSON. */
const oddities = ["null", "true", "1e999", '"text"', "[]", "[[]]", '{"__proto__":{"polluted":true}}', "{}"];

const longest = 2000;

export const messageRows: readonly Row[] = [
  ...bombs.map(([limit, text], index): Row => ({
    name: `a result that exceeds ${limit} is refused over a wire and HTTP, and the error names the option (${index})`,
    limit: `limits.${limit}`,
    async attack() {
      const { server, client } = await wired({});
      server.on("work", (request, end) => end.send(responseText(request, text)));
      const overWire = await failing(client.request("work"));
      await expectAlive(client);
      const http = await start();
      http.server.on("work", ({ response, message }) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(responseText(message, text));
      });
      for (const error of [overWire, await failing(http.client.request("work"))]) {
        expect(error).toBeInstanceOf(InvalidResponse);
        expect(error.message).toContain(`limits.${limit}`);
        expect(error.message.length).toBeLessThan(longest);
      }
    },
  })),
  ...["%41", "&lt;", "?a=b&"].map((text): Row => ({
    name: `an error and a recorded result full of ${text} take little more memory than their text`,
    limit: "limits.maxBytes",
    async attack() {
      const message = text.repeat(3_000_000 / text.length);
      const server = await HttpScript.open(newestModern);
      const { error, result } = { error: { code: -32_000, message }, result: { text: message } };
      for (const answer of [{ error }, { result }]) {
        server.on("work", ({ response, message: { id } }) => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
        });
        const report = await attackVictim({
          // The client has a secret to look for.
          target: `${server.url}?apiKey=q8Zx4kTw2Jm5rVd0`,
          options: { revision: newestModern },
          flags: { record: true },
        });
        expect(report.outcome.ok).toBe("result" in answer);
        expect(report.peakMb).toBeLessThan(120);
      }
    },
  })),
  {
    name: "a deep message does not end a client that records",
    limit: "limits.maxDepth",
    async attack() {
      const lines: string[] = [];
      const { server, client } = await wired({}, { record: (line) => lines.push(line) });
      for (let depth = 100; depth < 100_000; depth = Math.ceil(depth * 1.2)) {
        server.on("work", (request, end) =>
          end.send(responseText(request, `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`)),
        );
        await client.request("work").catch(() => {});
      }
      await expectAlive(client);
      expect(lines.at(-2)).toContain("still/there");
    },
  },
  {
    name: "what a recording or an observer throws ends no call",
    async attack() {
      const thrower = (): void => {
        throw new Error("Thrown by the user");
      };
      const server = new ScriptedServer().on("work", () => ({ resultType: "complete" }));
      const client = await connect(server, { record: thrower, observe: thrower });
      expect(await client.request("work")).toEqual({ resultType: "complete" });
      server.end.send({ jsonrpc: "2.0", id: 99, result: {} });
      await nextTurn();
      expect(await client.request("work")).toEqual({ resultType: "complete" });
      await client.close();
    },
  },
  {
    name: "twenty thousand responses to nothing, and duplicates, change nothing",
    async attack() {
      const { server, client, ignored } = await wired({});
      server.on("work", ({ id }, end) => {
        end.send({ jsonrpc: "2.0", id, result: { resultType: "complete", first: true } });
        end.send({ jsonrpc: "2.0", id, result: { resultType: "complete", first: false } });
        end.send({ jsonrpc: "2.0", id, error: { code: 1, message: "No" } });
      });
      for (let id = 1000; id < 21_000; id++) server.end.send({ jsonrpc: "2.0", id, result: {} });
      expect(await client.request("work")).toMatchObject({ first: true });
      await expectAlive(client);
      expect(ignored()).toHaveLength(20_002);
    },
  },
  {
    name: "ids of another type or case than that of the request are those of no request",
    async attack() {
      const { server, client } = await wired({});
      server.on("work", ({ id }, end) => {
        for (const other of [String(id), [id], { id }, true, Number(id) + 0.5, "__proto__", null, ` ${id}`])
          end.send({ jsonrpc: "2.0", id: other, result: { resultType: "complete", wrong: true } });
        end.send({ jsonrpc: "2.0", id, result: { resultType: "complete", wrong: false } });
      });
      expect(await client.request("work")).toMatchObject({ wrong: false });
    },
  },
  {
    name: "a text of megabytes where a short one belongs is shown in part only",
    async attack() {
      const huge = "x".repeat(1_000_000);
      const { server, client, events, ignored } = await wired({});
      server.end.send({ jsonrpc: "2.0", id: huge, result: {} });
      server.end.send({ jsonrpc: "2.0", id: { huge }, result: {} });
      server.end.send({ jsonrpc: "2.0", id: 1, method: huge });
      server.end.notify("notifications/subscriptions/acknowledged", {
        _meta: { "io.modelcontextprotocol/subscriptionId": huge },
      });
      for (const result of [{ resultType: huge }, { resultType: [huge] }]) {
        server.on("work", () => result);
        const error = await failing(client.request("work"));
        expect(error.message.length).toBeLessThan(longest);
      }
      server.on("tools/call", () => ({ resultType: "task", taskId: huge, status: "working" }));
      server.on("tasks/get", () => ({ resultType: "complete", taskId: `${huge}2`, status: "working" }));
      expect((await failing(client.callTool("work"))).message.length).toBeLessThan(longest);
      server.on("tools/call", () => ({ resultType: "task", taskId: "1", status: huge }));
      expect((await failing(client.callTool("work"))).message.length).toBeLessThan(longest);
      for (const reason of ignored()) expect(reason.length).toBeLessThan(longest);
      expect(JSON.stringify(events).length).toBeLessThan(20_000);
    },
  },
  {
    name: "an error without a code, or with a message of another type, is refused or repaired",
    async attack() {
      const { server, client } = await wired({});
      for (const error of [{}, [], "no", 1, true, { code: "1" }, { code: 1.5 }, { code: 1e300 }]) {
        server.on("work", ({ id }, end) => end.send({ jsonrpc: "2.0", id, error }));
        expect(await failing(client.request("work"))).toBeInstanceOf(InvalidResponse);
      }
      server.on("work", ({ id }, end) => end.send({ jsonrpc: "2.0", id, error: { code: 1, message: {} } }));
      expect(await failing(client.request("work"))).toBeInstanceOf(RpcRejection);
      await expectAlive(client);
    },
  },
  {
    name: "a result of a tool without an array of content is refused, whatever is asked of the client",
    async attack() {
      const { server, client } = await wired({});
      for (const content of oddities.filter((text) => !text.startsWith("["))) {
        for (const isError of [true, false]) {
          const text = `{"resultType":"complete","isError":${isError},"content":${content}}`;
          server.on("tools/call", (request, end) => end.send(responseText(request, text)));
          for (const throwOnError of [true, false]) {
            const error = await failing(client.callTool("work", {}, { throwOnError }));
            expect(error, text).toBeInstanceOf(InvalidResponse);
            expect(error.message).toContain("content");
          }
        }
      }
    },
  },
  {
    name: "blocks of unknown types, or that are none, reach the user as they are",
    async attack() {
      const { server, client } = await wired({});
      const text = `{"resultType":"complete","isError":true,"content":[${oddities.join(",")},{"type":"__proto__"},{"type":"text","text":{}}]}`;
      server.on("tools/call", (request, end) => end.send(responseText(request, text)));
      expect((await client.callTool("work")).content).toHaveLength(oddities.length + 2);
      expect(await failing(client.callTool("work", {}, { throwOnError: true }))).toBeInstanceOf(
        ToolCallError,
      );
    },
  },
  {
    name: "capabilities, names and instructions of any shape connect, or are refused clearly",
    async attack() {
      for (const value of oddities) {
        for (const revision of [newestModern, newestLegacy]) {
          const capabilities = `{"tools":${value},"resources":${value},"prompts":${value},"tasks":${value},"extensions":${value},"logging":${value},"__proto__":${value}}`;
          for (const [given, info] of [
            [capabilities, '{"name":"x","version":"1"}'],
            [value, value],
          ]) {
            const own =
              revision === newestModern
                ? `"resultType":"complete","supportedVersions":["${revision}"],"_meta":{"io.modelcontextprotocol/serverInfo":${info}}`
                : `"protocolVersion":"${revision}","serverInfo":${info}`;
            const text = `{${own},"capabilities":${given},"instructions":${value},"ttlMs":${value}}`;
            const server = new ScriptedServer({ revision });
            const method = revision === newestModern ? "server/discover" : "initialize";
            server.on(method, (request, end) => end.send(responseText(request, text)));
            server.on("tools/call", () => ({ resultType: "complete", content: [] }));
            server.on("tools/list", () => ({ resultType: "complete", tools: [] }));
            const client = await connect(server, { revision });
            expect((await client.callTool("work")).content).toEqual([]);
            expect(await client.listTools()).toEqual([]);
            await failing(client.startTask("work"));
            await failing(client.listen({ tools: true, resources: ["a:b"] }));
            await client.close();
          }
        }
      }
    },
  },
  {
    name: "a revision that nobody knows is refused, whatever its name",
    async attack() {
      for (const version of ["__proto__", "constructor", "toString", "", "x".repeat(100_000)]) {
        const modern = new ScriptedServer().on("server/discover", () => ({
          resultType: "complete",
          supportedVersions: [version],
        }));
        const legacy = new ScriptedServer({ revision: newestLegacy }).on("initialize", () => ({
          protocolVersion: version,
          capabilities: {},
        }));
        for (const server of [modern, legacy]) {
          const error = await failing(connect(server));
          expect(error).toMatchObject({ code: "NO_COMMON_REVISION" });
          expect(error.message.length).toBeLessThan(longest);
        }
      }
    },
  },
  {
    name: "a flood of progress reaches the handler, and that of other tokens nobody",
    async attack() {
      const { server, client } = await wired({});
      let seen = 0;
      const times = 10_000;
      server.on("tools/call", async (request, end) => {
        const { progressToken } = metaOf(request) as { progressToken: number };
        for (let progress = 0; progress < times; progress++) {
          end.notify("notifications/progress", { progressToken, progress });
          end.notify("notifications/progress", { progressToken: progressToken + 1000, progress });
        }
        for (const odd of ["__proto__", null, [], {}])
          end.notify("notifications/progress", { progressToken: odd });
        await nextTurn();
        return { resultType: "complete", content: [] };
      });
      await client.callTool("work", {}, { onProgress: () => void seen++ });
      expect(seen).toBe(times);
    },
  },
  {
    name: "responses of other requests on the stream of a request are ignored on a modern server",
    async attack() {
      const { server, client } = await start();
      const held = client.request("held");
      server.on("held", () => {});
      const { message } = await server.next("held");
      server.on("work", (asked) => {
        asked.response.writeHead(200, { "content-type": "application/json" });
        const stolen = { jsonrpc: "2.0", id: message.id, result: { resultType: "complete", stolen: true } };
        asked.response.end(JSON.stringify(stolen));
      });
      expect(await failing(client.request("work"))).toBeInstanceOf(InvalidResponse);
      (await server.next("held")).result({ stolen: false });
      expect(await held).toMatchObject({ stolen: false });
    },
  },
];
