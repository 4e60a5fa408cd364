// Messages that cost more than they weigh: refused before anything is built of them, and the next one is answered.
import type { McpServer, ServerOptions } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect } from "vitest";
import { call, makeServer, refusal, textOf } from "../../support/catalogue.ts";
import { cpuTime } from "../../support/cpu-time.ts";
import { modernPost } from "../../support/http.ts";
import { modernCall } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";
import { until } from "../../support/turns.ts";
import { type MountName, openDoor, openHttp } from "../mounts.ts";
import type { Row } from "../row.ts";

function countingServer(options: ServerOptions = {}): { server: McpServer; calls: () => number } {
  const { server } = makeServer(options);
  let calls = 0;
  server.tool("act", { input: { type: "object" } }, () => `${++calls}`);
  return { server, calls: () => calls };
}

/** The text is refused, by whatever the mount says that with, no tool has run, and a good call is answered. */
async function refuses(
  mount: MountName,
  text: (client: TestClient) => string,
  options: ServerOptions,
): Promise<void> {
  const { server, calls } = countingServer(options);
  const client = await (await openDoor(mount, server)).connect();
  const before = client.received.length;
  client.sendText(text(client));
  // Over HTTP+SSE a body that is too large is refused by the status of its POST alone.
  if (mount !== "HTTP+SSE" || !("maxBytes" in (options.limits ?? {}))) {
    await until(() => client.received.length > before);
    expect(client.received.at(-1)).toMatchObject({ error: { code: -32600 } });
  }
  expect(calls()).toBe(0);
  expect(textOf(await call(client, "act"))).toBe("1");
}

const callText = (args: string): string =>
  `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"act","arguments":${args}}}`;

/** Batches exist in one revision; its clients are the ones to send too many. */
const batching = "2025-03-26";

export const messageRows: readonly Row[] = [
  {
    over: "messages",
    name: "a body or line past the limit is cut off while it is read, and the peer goes on",
    advisories: ["GHSA-f897-62hf-6gxq", "CVE-2026-39313", "Java 2.0.1"],
    limit: "limits.maxBytes",
    attack: (mount) =>
      refuses(mount, () => callText(`{"x":"${"x".repeat(5000)}"}`), { limits: { maxBytes: 4000 } }),
  },
  {
    over: "http",
    name: "a body without a length is refused as soon as it is too large, not when it ends",
    advisories: ["GHSA-f897-62hf-6gxq"],
    leftOut: {
      "HTTP+SSE": "reads bodies in the same way as serveHttp, which mounts it",
      Express:
        "lets its own parser read the body first; what that leaves is measured again, in the row above",
    },
    async attack(mount) {
      const door = await openHttp(mount, countingServer({ limits: { maxBytes: 4000 } }).server);
      const { headers = {} } = modernPost(modernCall(1, "act"));
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const raw = openRaw(door.port);
      raw.socket.write(
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}Transfer-Encoding: chunked\r\n\r\n`,
      );
      for (let sent = 0; sent < 5; sent++) raw.socket.write(`400\r\n${"x".repeat(1024)}\r\n`);
      await until(() => raw.text().startsWith("HTTP/1.1 413"));
    },
  },
  {
    over: "messages",
    name: "a batch of too many is refused as a whole, and none of it runs",
    advisories: ["CVE-2026-67432"],
    limit: "limits.maxBatch",
    leftOut: { "HTTP+SSE": "is of a revision without batches" },
    async attack(mount) {
      const { server, calls } = countingServer({ limits: { maxBatch: 3 } });
      const client = await (await openDoor(mount, server)).connect({ revision: batching });
      const before = client.received.length;
      client.sendText(`[${[1, 2, 3, 4].map(() => callText("{}")).join(",")}]`);
      await until(() => client.received.length > before);
      expect(client.received.at(-1)).toMatchObject({ error: { code: -32600 } });
      expect(calls()).toBe(0);
    },
  },
  {
    over: "messages",
    name: "a batch whose results are too long together runs no further call",
    limit: "limits.maxBatchReplyLength",
    leftOut: { "HTTP+SSE": "is of a revision without batches" },
    async attack(mount) {
      const { server } = makeServer({ limits: { maxBatchReplyLength: 25_000 } });
      let ran = 0;
      server.tool("large", {}, async () => (ran++, "x".repeat(10_000)));
      const client = await (await openDoor(mount, server)).connect({ revision: batching });
      const before = client.received.length;
      const large = (id: number): object => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "large" },
      });
      client.sendText(JSON.stringify([101, 102, 103, 104, 105].map(large)));
      await until(() => client.received.length >= before + 5);
      const answers = client.received
        .slice(before)
        .map((message) => ("error" in message ? message.error.code : 0));
      expect(answers).toEqual([0, 0, -32603, -32600, -32600]);
      expect(ran).toBe(3);
    },
  },
  {
    over: "messages",
    name: "a small body of very many elements is refused before it is validated",
    advisories: ["CVE-2026-111768"],
    limit: "limits.maxElements",
    attack: (mount) =>
      refuses(mount, () => callText(`{"x":[${"1,".repeat(300)}1]}`), { limits: { maxElements: 200 } }),
  },
  {
    over: "messages",
    name: "values nested in each other without end are refused before they are parsed",
    limit: "limits.maxDepth",
    attack: (mount) =>
      refuses(mount, () => callText(`{"x":${"[".repeat(50)}${"]".repeat(50)}}`), {
        limits: { maxDepth: 20 },
      }),
  },
  {
    over: "messages",
    name: "the default limits hold for a bomb of four megabytes of brackets, in a moment",
    advisories: ["CVE-2026-111768"],
    async attack(mount) {
      const { server, calls } = countingServer();
      const client = await (await openDoor(mount, server)).connect();
      const before = client.received.length;
      const cost = await cpuTime(async () => {
        client.sendText(callText(`{"x":[${"{},".repeat(1_000_000)}{}]}`));
        await until(() => client.received.length > before, 30_000);
      });
      expect(client.received.at(-1)).toMatchObject({ error: { code: -32600 } });
      // Most of it is the parser of Express, which builds all of it.
      expect(cost).toBeLessThan(3000);
      expect(calls()).toBe(0);
    },
  },
  {
    over: "messages",
    name: "a URI made to match a template in as many ways as possible is matched in no time",
    advisories: ["CVE-2026-0621"],
    async attack(mount) {
      const { server } = makeServer();
      server.resourceTemplate("t:{/a*}{/b*}{/c*}{?d*,e*}", {}, () => "matched");
      server.resourceTemplate("u:{+a}x{+b}x{+c}x{+d}!", {}, () => "matched");
      const client = await (await openDoor(mount, server)).connect();
      const cost = await cpuTime(async () => {
        for (const uri of [`t:${"/a".repeat(4000)}!`, `u:${"x".repeat(8000)}`, `t:?${"d=1&".repeat(2000)}`])
          await refusal(client.request("resources/read", { uri }));
      });
      expect(cost).toBeLessThan(1000);
    },
  },
  {
    over: "messages",
    name: "a file URI that climbs out of its directory is no resource, in whatever disguise",
    advisories: ["CVE-2026-32871"],
    async attack(mount) {
      const { server } = makeServer();
      const read: string[] = [];
      server.resourceTemplate("file:///pub/{+path}", {}, ({ uri }) => read.push(uri).toString());
      const client = await (await openDoor(mount, server)).connect();
      for (const path of ["../x", "a/../../x", "%2e%2e/x", "..%2fx", "%2E%2E%5Cx", "a/.."])
        await refusal(client.request("resources/read", { uri: `file:///pub/${path}` }));
      expect(read).toEqual([]);
      await client.request("resources/read", { uri: "file:///pub/a..b/c" });
      expect(read).toHaveLength(1);
    },
  },
];
