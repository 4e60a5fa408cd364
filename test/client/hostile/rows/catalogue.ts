// Lists, definitions and results that a server makes up to confuse a client or to wear it out.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished } from "vitest";
import { failing, HttpScript, start } from "../../../support/http-script.ts";
import { nextTurn } from "../../../support/turns.ts";
import type { Row } from "../row.ts";
import { type Attack, attackVictim } from "../victim.ts";
import { expectAlive, responseText, wired } from "../wired.ts";

const tool = (name: string, more: object = {}): object => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});
const complete = (result: object): object => ({ resultType: "complete", ...result });
const ofObject = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

/** A server with 150 megabytes of names, one tool a page, attacks a client. */
async function attackByNames(attack: Omit<Attack, "target">): Promise<void> {
  const server = await HttpScript.open();
  const pages = 150;
  server.on("tools/list", ({ message, result }) => {
    const page = Number(message.params?.["cursor"] ?? 0);
    const tools = [tool(`${page} ${"x".repeat(1_000_000)}`)];
    result({ tools, ...(page < pages && { nextCursor: String(page + 1) }) });
  });
  server.on("tools/call", ({ result }) => result({ content: [] }));
  server.on("again", ({ result }) => result());
  const limits = { maxBytes: 2_000_000, maxListBytes: 4_000_000, maxCachedBytes: 4_000_000 };
  const report = await attackVictim({
    ...attack,
    target: server.url,
    options: { limits },
    flags: { again: true, ...attack.flags },
  });
  expect(report.outcome).toEqual({ ok: true });
  expect(report.again).toEqual({ ok: true });
  expect(report.keptMb).toBeLessThan(12);
  expect(report.peakMb).toBeLessThan(80);
}

export const catalogueRows: readonly Row[] = [
  {
    name: "tools with names that every object has, or that repeat, are listed once and called by name",
    async attack() {
      const { server, client, ignored } = await wired({});
      const tools = [...ofObject, ...ofObject].map((name) => tool(name));
      server.on("tools/list", () => complete({ tools }));
      server.on("tools/call", ({ params }) =>
        complete({ content: [{ type: "text", text: String(params?.["name"]) }], structuredContent: {} }),
      );
      expect((await client.listTools()).map(({ name }) => name)).toEqual(ofObject);
      expect(ignored()).toHaveLength(ofObject.length);
      for (const name of ofObject)
        expect((await client.callTool(name)).content).toEqual([{ type: "text", text: name }]);
    },
  },
  {
    name: "pages without end, and cursors that repeat, are ended",
    limit: "limits.maxPages",
    async attack() {
      const { server, client } = await wired({});
      let page = 0;
      server.on("tools/list", () => complete({ tools: [], nextCursor: String(page++) }));
      expect((await failing(client.listTools())).message).toContain("limits.maxPages");
      expect(page).toBe(1000);
      for (const length of [1, 2, 3, 7]) {
        page = 0;
        server.on("tools/list", () => complete({ tools: [], nextCursor: String(page++ % length) }));
        expect((await failing(client.listTools({ fresh: true }))).message).toContain("repeats");
        expect(page).toBeLessThan(50);
      }
      const cursor = "c".repeat(1_000_000);
      server.on("tools/list", () => complete({ tools: [], nextCursor: cursor }));
      expect((await failing(client.listTools({ fresh: true }))).message.length).toBeLessThan(1000);
    },
  },
  {
    name: "a list that grows without end is refused by its entries, and by its bytes",
    limit: "limits.maxListItems",
    async attack() {
      const { server, client } = await wired({}, { limits: { maxListItems: 1000, maxListBytes: 1_000_000 } });
      let page = 0;
      const many = Array.from({ length: 100 }, (_, at) => ({ name: `p${at}` }));
      server.on("prompts/list", () =>
        complete({
          prompts: many.map(({ name }) => ({ name: `${name}-${page}` })),
          nextCursor: String(page++),
        }),
      );
      expect((await failing(client.listPrompts())).message).toContain("limits.maxListItems");
      expect(page).toBeLessThan(20);
      server.on("resources/list", () =>
        complete({ resources: [{ uri: "a:b", name: "x".repeat(200_000) }], nextCursor: String(page++) }),
      );
      expect((await failing(client.listResources())).message).toContain("limits.maxListBytes");
    },
  },
  {
    name: "a call does not remember names of tools without end, and stops listing when it cannot remember more",
    limit: "limits.maxListBytes",
    attack: () => attackByNames({ call: ["callTool", "work"] }),
  },
  {
    name: "iterating over tools does not remember their names without end",
    limit: "limits.maxListBytes",
    attack: () => attackByNames({ call: ["eachTool"], flags: { iterates: true } }),
  },
  {
    name: "tools that are listed again and again with new large ones among them count for what they take",
    limit: "limits.maxListBytes",
    async attack() {
      const server = await HttpScript.open();
      let lists = 0;
      const small = Array.from({ length: 1000 }, (_, at) => tool(`s${at}`));
      server.on("tools/list", ({ result }) =>
        result({ tools: [...small, tool(`large ${lists++}`, { description: "x".repeat(1_000_000) })] }),
      );
      const limits = { maxBytes: 2_000_000, maxListBytes: 4_000_000, maxCachedBytes: 4_000_000 };
      const report = await attackVictim({
        target: server.url,
        options: { limits },
        call: ["listTools"],
        flags: { times: 100 },
      });
      expect(lists).toBe(100);
      expect(report.outcome).toEqual({ ok: true });
      expect(report.keptMb).toBeLessThan(12);
    },
  },
  {
    name: "annotations of headers cannot name headers of the transport, nor break a line",
    requirements: ["XMH-REJECT-TOOL"],
    async attack() {
      const headers: Record<string, unknown>[] = [];
      const { server, client } = await start({ auth: "secret" });
      const annotated = (name: string, header: unknown): object =>
        tool(name, {
          inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": header } } },
        });
      const names = ["X\r\nAuthorization: evil", "X\nY", "a b", "", "ü", "X:", 1, null, {}];
      server.on("tools/list", ({ result }) =>
        result({
          tools: [
            ...names.map((header, at) => annotated(`bad${at}`, header)),
            ...["Authorization", "Host", "__proto__", "Content-Length"].map((header) =>
              annotated(header, header),
            ),
          ],
        }),
      );
      server.on("tools/call", ({ headers: given, result }) => {
        headers.push(given);
        result({ content: [] });
      });
      const listed = (await client.listTools()).map(({ name }) => name);
      expect(listed.filter((name) => name.startsWith("bad"))).toEqual([]);
      for (const name of listed) {
        await client.callTool(name, { a: "evil\r\nx-evil: 1" });
        const given = headers.at(-1) ?? {};
        expect(given["authorization"]).toBe("Bearer secret");
        expect(given["host"]).toMatch(/^127\.0\.0\.1:\d+$/);
        expect(given["x-evil"]).toBeUndefined();
        expect(given[`mcp-param-${name.toLowerCase()}`]).toMatch(/^=\?base64\?/);
      }
    },
  },
  {
    name: "a flood of changes of the list makes the client list no more often than it is asked to",
    async attack() {
      const { server, client } = await wired({ capabilities: { tools: { listChanged: true } } });
      server.on("tools/list", () => complete({ tools: [tool("a")], ttlMs: 1000, cacheScope: "public" }));
      await client.listTools();
      for (let at = 0; at < 5000; at++) {
        server.end.notify("notifications/tools/list_changed");
        server.end.notify("notifications/resources/updated", { uri: `a:${at}` });
      }
      await nextTurn();
      await expectAlive(client);
      expect(server.of("tools/list")).toHaveLength(1);
      await client.listTools();
      expect(server.of("tools/list")).toHaveLength(2);
    },
  },
  {
    name: "times to live that are none are not believed",
    limit: "limits.maxCached",
    async attack() {
      const { server, client } = await wired({}, { limits: { maxCached: 5 } });
      const times = ["-1", '"1"', "null", "[]", "-1e999", "0", '{"__proto__":1}'];
      for (const ttlMs of times) {
        const text = `{"resultType":"complete","tools":[],"ttlMs":${ttlMs},"cacheScope":"public"}`;
        server.on("tools/list", (request, end) => end.send(responseText(request, text)));
        await client.listTools();
      }
      expect(server.of("tools/list")).toHaveLength(times.length);
      server.on("resources/read", (request, end) =>
        end.send(
          responseText(
            request,
            '{"resultType":"complete","contents":[],"ttlMs":1e999,"cacheScope":"public"}',
          ),
        ),
      );
      for (let at = 0; at < 20; at++) await client.readResource(`a:${at}`);
      for (let at = 0; at < 20; at++) await client.readResource(`a:${at}`);
      expect(server.of("resources/read")).toHaveLength(40);
      await client.readResource("a:19");
      expect(server.of("resources/read")).toHaveLength(40);
    },
  },
  {
    name: "an output schema is never fetched, and one that costs too much is not used",
    async attack() {
      let fetched = 0;
      const http = createServer((_, response) => {
        fetched++;
        response.end("{}");
      }).listen(0, "127.0.0.1");
      await new Promise((resolve) => http.once("listening", resolve));
      onTestFinished(() => void http.close());
      const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/schema.json`;
      const bomb: Record<string, object> = { d0: { type: "string" } };
      for (let at = 1; at < 40; at++)
        bomb[`d${at}`] = { anyOf: [{ $ref: `#/$defs/d${at - 1}` }, { $ref: `#/$defs/d${at - 1}` }] };
      const schemas = {
        remote: { $ref: url },
        metaschema: { $schema: url, type: "object" },
        pattern: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
        exponential: { type: "object", properties: { a: { $ref: "#/$defs/d39" } }, $defs: bomb },
        itself: { $ref: "#" },
        wide: {
          type: "object",
          properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [at, true])),
        },
        none: [],
      };
      const { server, client } = await wired({}, { strict: true });
      const tools = Object.entries(schemas).map(([name, outputSchema]) => tool(name, { outputSchema }));
      server.on("tools/list", () => complete({ tools }));
      const structuredContent = { a: `${"a".repeat(60)}!` };
      server.on("tools/call", () => complete({ content: [], structuredContent }));
      for (const name of Object.keys(schemas)) {
        const startedAt = performance.now();
        await client
          .callTool(name)
          .catch((error: unknown) => expect(error).toMatchObject({ code: "OUTPUT_MISMATCH" }));
        expect(performance.now() - startedAt, name).toBeLessThan(5000);
      }
      expect(fetched).toBe(0);
    },
  },
  {
    name: "a list that names another kind, or holds no objects, is refused or left out",
    async attack() {
      const { server, client } = await wired({});
      for (const tools of [undefined, {}, "x", 1]) {
        server.on("tools/list", () => complete({ tools, prompts: [] }));
        expect((await failing(client.listTools())).message).toContain("no array tools");
      }
      server.on("tools/list", () =>
        complete({ tools: [null, 1, "x", [], {}, { name: 1 }, { name: "a" }, tool("ok")] }),
      );
      expect((await client.listTools()).map(({ name }) => name)).toEqual(["ok"]);
      for (const nextCursor of [1, {}, []]) {
        server.on("tools/list", () => complete({ tools: [], nextCursor }));
        expect((await failing(client.listTools())).message).toContain("nextCursor");
      }
    },
  },
];
