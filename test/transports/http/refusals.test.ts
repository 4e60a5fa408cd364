// Requests that HTTP refuses before the server sees them reach `observe`, each once, with its status.
import type { JsonObject, ServerEvent } from "halyard";
import type { HttpOptions } from "halyard/node";
import { expect, test } from "vitest";
import { describeEdges, type HttpEdge, modernPost, post, type RawRequest } from "../../support/http.ts";
import { discover, httpServer, modernCall, ping } from "../../support/http-server.ts";
import { initializeRequest, modernRequest, newestLegacy } from "../../support/raw.ts";

interface Refused {
  readonly name: string;
  readonly request: RawRequest;
  readonly status: number;
  readonly errorCode?: number;
  readonly options?: HttpOptions;
  /** Done before, with what it needs kept open. */
  readonly before?: (edge: HttpEdge) => Promise<unknown>;
}

const listenRequest: JsonObject = modernRequest("l", "subscriptions/listen", { notifications: {} });
const principal = { issuer: "https://issuer.example", subject: "one" };

const refused: readonly Refused[] = [
  { name: "a foreign host", request: { ...modernPost(discover), headers: { host: "evil" } }, status: 403 },
  {
    name: "a foreign origin",
    request: modernPost(discover, { origin: "https://evil.example" }),
    status: 403,
  },
  { name: "no path of ours", request: { method: "GET", path: "/nowhere" }, status: 404 },
  { name: "a method it has not", request: { method: "PUT" }, status: 405 },
  { name: "an Accept it cannot serve", request: modernPost(discover, { accept: "image/png" }), status: 406 },
  {
    name: "a type that a page sends unasked",
    request: modernPost(discover, { "content-type": "text/plain" }),
    status: 415,
  },
  {
    name: "too large a body",
    request: modernPost(modernCall(1, "echo", { text: "x".repeat(2000) })),
    status: 413,
  },
  { name: "no JSON", request: modernPost(discover), status: 400, errorCode: -32700 },
  {
    name: "headers that differ from the body",
    request: modernPost(discover, { "mcp-method": "tools/list" }),
    status: 400,
    errorCode: -32020,
  },
  { name: "no session", request: post(ping), status: 400 },
  { name: "an unknown session", request: post(ping, { "mcp-session-id": "x" }), status: 404 },
  {
    name: "one subscription too many",
    request: modernPost(listenRequest),
    status: 429,
    options: { limits: { maxListens: 1 } },
    before: (edge) => edge.send(modernPost(listenRequest)),
  },
  {
    name: "an unknown stream of HTTP+SSE",
    request: { ...post(ping), path: "/messages?sessionId=x" },
    status: 404,
    options: { legacySse: true },
  },
  {
    name: "what comes while it shuts down",
    request: modernPost(discover),
    status: 503,
    before: (edge) => edge.close(),
  },
  {
    name: "what it fails at",
    request: modernPost(discover),
    status: 500,
    errorCode: -32603,
    options: {
      auth: () => {
        throw new Error("secret");
      },
    },
  },
];

/** The texts that `request` of a row cannot say, since helpers make them well. */
const bodies: Readonly<Record<string, string>> = { "no JSON": "{" };

describeEdges("observe", (open, kind) => {
  // The other edges stop listening when they are closed, so that nothing comes any more.
  const rows = refused.filter(({ status }) => status !== 503 || kind === "fetchHandler");

  test.each(rows)("is told once of a request refused for $name, with status $status", async (row) => {
    const events: ServerEvent[] = [];
    const limits = { maxBytes: 1000 };
    const { server } = httpServer({ limits, observe: (event) => void events.push(event) });
    const edge = await open(server, row.options ?? {});
    await row.before?.(edge);
    events.length = 0;
    const reply = await edge.send({ ...row.request, body: bodies[row.name] ?? row.request.body });
    expect(reply.status).toBe(row.status);
    const { error } = await reply.answer();
    const { errorCode = -32600, status } = row;
    expect(events.filter(({ type }) => type === "refusal")).toEqual([
      { type: "refusal", transport: "http", status, errorCode, reason: error?.message, principal: undefined },
    ]);
  });

  test("is told who was refused, once that is known, behind CORS too", async () => {
    const events: ServerEvent[] = [];
    const { server } = httpServer({ observe: (event) => void events.push(event) });
    const cors = { origins: ["https://page.example"] };
    const edge = await open(server, { cors, auth: () => principal });
    events.length = 0;
    await edge.send(post(ping, { origin: "https://page.example" }));
    expect(events).toMatchObject([{ type: "refusal", status: 400, principal }]);
  });

  test("is not told of a refusal when there was none", async () => {
    const events: ServerEvent[] = [];
    const { server } = httpServer({ observe: (event) => void events.push(event) });
    const edge = await open(server);
    events.length = 0;
    await edge.send(modernPost(discover));
    await edge.send(post(initializeRequest(1, newestLegacy)));
    expect(events.map(({ type }) => type)).toEqual(["request", "request", "session"]);
  });
});
