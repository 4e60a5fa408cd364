// What a server can do with HTTP itself: redirects, waits, sessions, addresses for messages, and the secrets that it receives.
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { connect, type ClientEvent } from "halyard/client";
import { expect, onTestFinished, vi } from "vitest";
import {
  type Asked,
  event,
  failing,
  HttpScript,
  newestLegacy,
  newestModern,
  quick,
  start,
} from "../../../support/http-script.ts";
import { until } from "../../../support/turns.ts";
import type { Row } from "../row.ts";

const token = "token-that-nobody-may-see";
const ways = { "node:http": {}, fetch: { fetch } };

/** All that an error says, and the errors behind it. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? "";
  return [error.stack, JSON.stringify(error), textOf(error.cause)].join("\n");
}

/** Serves the same bytes to every connection. */
async function serveBytes(text: string): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(text));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

export const httpRows: readonly Row[] = [
  ...Object.entries(ways).map(([way, option]): Row => ({
    name: `a redirect to another origin is not followed, and takes no credentials there (${way})`,
    async attack() {
      const other = await HttpScript.open();
      const { server, client } = await start({ auth: token, headers: { "x-key": token }, ...option });
      for (const status of [301, 302, 303, 307, 308]) {
        for (const location of [
          other.url,
          other.url.replace("http:", ""),
          "file:///etc/passwd",
          "http://[",
          "javascript:1",
        ]) {
          server.on("work", ({ refuse }) => refuse(status, "", { location }));
          const error = await failing(client.request("work"));
          expect(error).toMatchObject({ code: "HTTP", status });
          expect(textOf(error)).not.toContain(token);
        }
      }
      expect(other.asked).toEqual([]);
      let count = 0;
      server.on("loop", ({ refuse }) => refuse(307, "", { location: `/mcp?${count++}` }));
      expect((await failing(client.request("loop"))).message).toContain("5 redirects");
      expect(count).toBeLessThanOrEqual(6);
    },
  })),
  {
    name: "a message address of another origin, or one too long to repeat, gets no request (HTTP+SSE)",
    async attack() {
      const other = await HttpScript.open();
      for (const endpoint of [
        other.url,
        other.url.replace("http:", ""),
        "file:///x",
        "javascript:1",
        "http://[",
        `${"x".repeat(100_000)}://`,
        `/messages?${"x".repeat(100_000)}`,
      ]) {
        const server = await HttpScript.open(newestLegacy);
        server.on("initialize", ({ refuse }) => refuse(405));
        server.on("GET", ({ stream }) => stream()(`event: endpoint\ndata: ${endpoint}\n\n`));
        const error = await failing(
          connect(server.url, {
            revision: "2024-11-05",
            auth: token,
            backoff: quick,
            connectTimeoutMs: 2000,
          }),
        );
        expect(error.message.length).toBeLessThan(1000);
        expect(server.asked.filter(({ path }) => path.startsWith("/messages"))).toEqual([]);
      }
      expect(other.asked).toEqual([]);
    },
  },
  {
    name: "session ids that no header can carry are refused, and long ones are sent back as they are",
    async attack() {
      for (const id of ["a b", "\u00fc", "a\tb", "a\u0001b", "a\u007fb"]) {
        const body = '{"jsonrpc":"2.0","id":1,"result":{}}';
        const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nmcp-session-id: ${id}\r\n\r\n`;
        const url = await serveBytes(head + body);
        const error = await failing(
          connect(url, { revision: newestLegacy, backoff: { ...quick, maxAttempts: 1 } }),
        );
        expect(error.message, id).not.toContain(id);
      }
    },
  },
  {
    name: "Retry-After of any kind leads to no storm, and to no wait longer than the call",
    async attack() {
      const { server, client } = await start({ backoff: quick });
      for (const after of [
        "-5",
        "0",
        "1e9",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "soon",
        "",
        "99999999999999999999",
      ]) {
        for (const status of [429, 503]) {
          const method = `work-${status}-${after.length}-${after.slice(0, 2)}`;
          server.on(method, ({ refuse }) => refuse(status, "", { "retry-after": after }));
          // A 503 proves something only with a time that can be read.
          const isProof = status === 429 || /^\d+$|GMT$/.test(after);
          const failure = isProof ? { status } : { reason: "cut", mayHaveRun: true };
          expect(await failing(client.request(method, {}, { maxTimeMs: 5000 }))).toMatchObject(failure);
          expect(server.of(method).length).toBeLessThanOrEqual(6);
        }
      }
      server.on("far", ({ refuse }) =>
        refuse(503, "", { "retry-after": new Date(Date.now() + 1e9).toUTCString() }),
      );
      expect(await failing(client.request("far"))).toMatchObject({ status: 503 });
      expect(server.of("far")).toHaveLength(1);
    },
  },
  {
    name: "waits between streams are the client's, whatever retry says, and end",
    async attack() {
      for (const retry of [0, 1]) {
        const { server, client } = await start({
          revision: newestLegacy,
          backoff: { firstMs: 20, maxMs: 40, maxAttempts: 3 },
        });
        const cut = (asked: Asked): void => {
          asked.stream()(event("", { id: `${server.asked.length}`, retry }));
          asked.response.end();
        };
        server.on("work", cut).on("GET", cut);
        const error = await failing(client.request("work"));
        expect(error).toMatchObject({ code: "CONNECTION_LOST", mayHaveRun: true });
        expect(server.of("GET").length).toBeLessThanOrEqual(8);
      }
      const { server, client } = await start({ revision: newestLegacy, backoff: quick, timeoutMs: 300 });
      server.on("work", (asked) => {
        asked.stream()(
          event("", { id: "1" }),
          "retry: 999999999\n\n",
          "retry: 1000000000000\n\n",
          "retry: -1\n\n",
        );
        asked.response.end();
      });
      expect(await failing(client.request("work"))).toMatchObject({ code: "TIMEOUT", limit: "timeoutMs" });
    },
  },
  {
    name: "ids of events that no header can carry are not sent back, and break nothing",
    async attack() {
      for (const id of ["a\0b", "\u00fc", "\u{1f600}", "a\u0001b", "x".repeat(5000)]) {
        const { server, client } = await start({ revision: newestLegacy, backoff: quick });
        server.on("work", (asked) => {
          asked.stream()(event("", { id }));
          asked.response.end();
        });
        server.on("GET", ({ refuse }) => refuse(405));
        expect(await failing(client.request("work")), JSON.stringify(id.slice(0, 9))).toMatchObject({
          code: "CONNECTION_LOST",
          reason: "cut",
        });
        expect(server.of("GET").every(({ headers }) => headers["last-event-id"] === undefined)).toBe(true);
      }
    },
  },
  ...[newestModern, newestLegacy].map((revision): Row => ({
    name: `credentials and session ids are in no error, event, recording or line of the console (${revision})`,
    async attack() {
      const printed: unknown[] = [];
      for (const method of ["log", "info", "warn", "error", "debug"] as const) {
        const spy = vi.spyOn(console, method).mockImplementation((...args) => void printed.push(args));
        onTestFinished(() => spy.mockRestore());
      }
      const lines: string[] = [];
      const events: ClientEvent[] = [];
      const { server, client } = await start({
        revision,
        auth: token,
        headers: { "x-api-key": token },
        record: (line) => lines.push(line),
        observe: (seen) => events.push(seen),
      });
      const answers: Record<string, (asked: Asked) => void> = {
        refused: ({ refuse }) => refuse(401, "", { "www-authenticate": "Bearer" }),
        forbidden: ({ refuse }) => refuse(403),
        broken: ({ socket }) => socket.destroy(),
        page: ({ refuse }) => refuse(500, "<h1>Sorry</h1>"),
        away: ({ refuse }) => refuse(302, "", { location: "https://example.com/" }),
        odd: ({ response }) => response.end("text"),
        // A page for developers that shows the request.
        echo: ({ refuse, headers }) => refuse(500, JSON.stringify(headers)),
        echoed: ({ refuse, headers }) => refuse(400, { headers }),
      };
      const errors: unknown[] = [];
      for (const [method, answer] of Object.entries(answers)) {
        server.on(method, answer);
        errors.push(await failing(client.request(method)));
      }
      const text = [
        ...errors.map(textOf),
        ...lines,
        ...events.map((seen) => JSON.stringify(seen) + textOf((seen as { error?: unknown }).error)),
        JSON.stringify(printed),
      ].join("\n");
      expect(text).not.toContain(token);
      for (const session of server.sessions) expect(text).not.toContain(session);
    },
  })),
  ...Object.entries(ways).map(([way, option]): Row => ({
    name: `a token that no header can carry is refused without being shown (${way})`,
    async attack() {
      const server = await HttpScript.open();
      const auths = [
        `${token}\n2`,
        () => `${token}\r\nx-evil: 1`,
        { headers: () => ({ "x-key": `${token}\u0000` }) },
      ];
      for (const auth of auths) {
        const error = await failing(connect(server.url, { auth, backoff: quick, ...option }));
        expect(error).toMatchObject({ code: "INVALID_OPTION" });
        expect(textOf(error)).not.toContain(token);
      }
      expect(server.asked).toEqual([]);
    },
  })),
  {
    name: "a request for a stream of a session is not repeated in a storm when the server ends it at once",
    async attack() {
      const { server } = await start(
        { revision: newestLegacy, backoff: { firstMs: 50, maxMs: 50, maxAttempts: 50 } },
        (script) =>
          script.on("GET", (asked) => {
            asked.stream()(
              event({ jsonrpc: "2.0", method: "notifications/message", params: {} }),
              "retry: 0\n\n",
            );
            asked.response.end();
          }),
      );
      const from = performance.now();
      await until(() => server.of("GET").length >= 5);
      // Each wait is 25 milliseconds at least.
      expect(performance.now() - from).toBeGreaterThan(50);
    },
  },
];
