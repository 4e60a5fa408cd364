// No byte that a dashboard sends has a secret of a followed client: not in timelines, messages, recordings or headers, on one node and on three.
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { memoryBackplane } from "halyard/cluster";
import { dashboard } from "halyard/dashboard";
import { type HttpServer, serveHttp } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { until } from "../support/turns.ts";

/** Each is in one place of what clients and tools send. */
const secrets = {
  bearer: "SECRET-of-the-authorization-header",
  cookie: "SECRET-of-a-cookie",
  header: "SECRET-of-another-header",
  claim: "SECRET-of-a-claim",
  argument: "SECRET-of-an-argument",
  deep: "SECRET-deep-in-an-argument",
  answer: "SECRET-that-a-client-answers",
  structured: "SECRET-of-a-structured-result",
  text: "SECRET-in-a-text-that-is-JSON",
  copied: "SECRET-in-a-copy-of-a-structured-result",
  query: "SECRET-in-the-query-of-a-URI",
  logged: "SECRET-in-a-log-message",
} as const;

const uri = `https://files.example/a?page=2&access_token=${secrets.query}`;

type Answer = { readonly [member: string]: unknown; readonly rows: readonly { readonly peer: string }[] };

interface Node {
  readonly http: HttpServer;
  readonly ask: (ask: string, question?: object) => Promise<Answer>;
}

/** What all dashboards have sent, and the ids of all sessions. */
interface Heard {
  readonly sent: string[];
  readonly sessions: Set<string>;
}

async function openNode(
  name: string,
  heard: Heard,
  backplane?: ReturnType<typeof memoryBackplane>,
): Promise<Node> {
  const page = dashboard({ onOpen: () => {}, history: 1000, node: name });
  const server = new McpServer(
    { name: "demo", version: "1.0.0" },
    {
      logger: recordingLogger(),
      observe: (event) => {
        if ("session" in event && event.session !== undefined) heard.sessions.add(event.session);
      },
      ...(backplane && { backplane }),
    },
  );
  const output = { type: "object", properties: { access_token: { type: "string" } } } as const;
  server.tool("sign-in", { output }, () => ({ structuredContent: { access_token: secrets.structured } }));
  server.tool("copy", { output }, () => ({
    content: [{ type: "text", text: `Your token: ${secrets.copied}` }],
    structuredContent: { access_token: secrets.copied },
  }));
  // What a tool knows of the request, it may repeat.
  server.tool("session", {}, (_, { session }) => {
    const id = String(session);
    return `${id} ${Buffer.from(`id ${id}`).toString("base64")} ${Buffer.from(id).toString("hex")}`;
  });
  server.tool("text", {}, () => JSON.stringify({ user: "me", apiKey: secrets.text }, undefined, 2));
  server.tool("take", { input: { type: "object" } }, (_, context) => {
    context.log("info", { token: secrets.logged });
    return "taken";
  });
  const asked = {
    type: "object",
    properties: { password: { type: "string" } },
    required: ["password"],
  } as const;
  server.tool("ask", {}, async (_, context) => {
    await context.elicit("Your password?", asked);
    return "asked";
  });
  server.resource(uri, { name: "a" }, () => "text");
  const principal = {
    issuer: "https://issuer.example",
    subject: "me",
    claims: { a: secrets.claim },
    scopes: [],
  };
  const http = await serveHttp(server, {
    port: 0,
    graceMs: 50,
    dashboard: page,
    auth: (request) =>
      request.header("authorization") === `Bearer ${secrets.bearer}` ? principal : undefined,
  });
  onTestFinished(() => http.close());
  const { origin, hash } = new URL(page.url ?? "");
  const authorization = `Bearer ${decodeURIComponent(hash.replace("#token=", ""))}`;
  return {
    http,
    ask: async (ask, question = {}) => {
      const headers = { authorization, "content-type": "application/json" };
      const body = JSON.stringify({ ask, ...question });
      const reply = await fetch(`${origin}/ask`, { method: "POST", headers, body });
      const text = await reply.text();
      heard.sent.push(text, JSON.stringify([...reply.headers]));
      expect(reply.status, text).toBe(200);
      expect(text).not.toContain(authorization.slice("Bearer ".length));
      return JSON.parse(text) as Answer;
    },
  };
}

async function useAll({ http, ask }: Node, revision: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${secrets.bearer}`,
    cookie: `sid=${secrets.cookie}`,
    "x-api-key": secrets.header,
  };
  const client = await connect(http.url, {
    headers,
    revision,
    info: { name: `client of ${revision}`, version: "1.0.0" },
    onElicit: () => Promise.resolve({ action: "accept", content: { password: secrets.answer } }),
  });
  onTestFinished(() => client.close());
  for (const { peer } of (await ask("sessions")).rows) await ask("timeline", { peer });
  const argument = { token: secrets.argument, list: [{ "Client-Secret": secrets.deep }] };
  for (const tool of ["sign-in", "copy", "session", "text", "ask"]) await client.callTool(tool, {});
  await client.callTool("take", argument);
  await client.readResource(uri);
}

/** Asks every question that there is, about every client. */
async function lookAtAll({ ask }: Node): Promise<void> {
  for (const name of ["about", "now", "sessions", "streams", "tools", "topics"]) await ask(name);
  for (const { peer } of (await ask("sessions")).rows) {
    const entries = (await ask("timeline", { peer }))["entries"] as { readonly id: string }[];
    await ask("messages", { peer, entries: entries.map(({ id }) => id) });
    await ask("recording", { peer });
  }
}

test.each([1, 3])("with %i nodes", async (count) => {
  const heard: Heard = { sent: [], sessions: new Set() };
  const backplane = count > 1 ? memoryBackplane() : undefined;
  const nodes: Node[] = [];
  for (let at = 0; at < count; at++) nodes.push(await openNode(`node-${at}`, heard, backplane));
  const [first, last] = [nodes[0], nodes.at(-1)] as [Node, Node];
  await until(async () => ((await first.ask("now"))["nodes"] as object[]).length === count);
  await useAll(first, "auto");
  await useAll(last, "2025-11-25");
  for (const node of nodes) await lookAtAll(node);
  const sent = heard.sent.join("\n");
  expect(heard.sessions.size).toBeGreaterThan(0);
  for (const secret of [...Object.values(secrets), ...heard.sessions])
    for (const part of [secret, btoa(`id ${secret}`).slice(5, -3), Buffer.from(secret).toString("hex")])
      expect(sent.includes(part), secret).toBe(false);
  // What is around the secrets is there.
  for (const shown of ["[redacted]", "files.example/a?page=2&access_token=", "Your password?", "taken"])
    expect(sent.includes(shown), shown).toBe(true);
});
