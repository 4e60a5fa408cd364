// No answer of a dashboard has a session id, a token, a claim of a principal or an argument of a call.
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { memoryBackplane } from "halyard/cluster";
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { SseClient } from "../support/legacy-sse.ts";
import { recordingLogger } from "../support/log.ts";
import { lookAt } from "../support/looking.ts";
import { initializeRequest, modernRequest } from "../support/raw.ts";
import { SessionClient } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

const bearer = "bearer-of-a-secret";
const claim = "claim-that-nobody-sees";
const argument = "argument-that-nobody-sees";
const subject = "somebody-with-a-very-long-subject";

const kinds = { "one process": undefined, "a cluster": memoryBackplane() };

test.each(Object.entries(kinds))("secrets stay secret in %s", async (_, backplane) => {
  const page = dashboard({ onOpen: () => {}, node: "self" });
  const sessions: string[] = [];
  const server = new McpServer(
    { name: "demo", version: "1.0.0" },
    {
      logger: recordingLogger(),
      observe: (event) => "session" in event && event.session !== undefined && sessions.push(event.session),
      ...(backplane && { backplane }),
    },
  );
  server.tool("echo", {}, () => argument);
  server.resource("note:///a", { name: "a" }, () => "text");
  const principal = { issuer: "https://issuer.example", subject, claims: { claim }, scopes: [claim] };
  const http = await serveHttp(server, {
    port: 0,
    graceMs: 50,
    legacySse: true,
    dashboard: page,
    auth: (request) => (request.header("authorization") === `Bearer ${bearer}` ? principal : undefined),
  });
  onTestFinished(() => http.close());
  const ask = lookAt(page);
  await ask("now");

  const headers = { authorization: `Bearer ${bearer}` };
  const legacy = await SessionClient.open(http, { headers });
  await legacy.get();
  await legacy.request("tools/call", { name: "echo", arguments: { argument } });
  await legacy.request("resources/subscribe", { uri: "note:///a" });
  const anonymous = await SessionClient.open(http);
  await anonymous.request("tools/call", { name: "echo", arguments: { argument } });
  const modern = await connect(http.url, { headers, info: { name: "modern", version: "1.0.0" } });
  onTestFinished(() => modern.close());
  await modern.callTool("echo", { argument });
  await modern.listen({ resources: ["note:///a"] });
  const sse = await SseClient.open(http);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stdio = await serveStdio(server, { input, output });
  onTestFinished(() => stdio.close());
  for (const message of [
    initializeRequest(1, "2025-11-25"),
    modernRequest(2, "tools/call", { name: "echo", arguments: { argument } }),
  ])
    input.write(`${JSON.stringify(message)}\n`);
  await until(
    async () => (await ask("sessions")).rows.filter(({ transport }) => transport === "stdio").length === 2,
  );
  await fetch(http.url, { method: "POST", headers: { ...headers, "mcp-session-id": legacy.id }, body: "no" });
  await server.resources.updated("note:///a");
  await server.push.toSession(legacy.id, "notifications/message", { level: "error", data: argument });

  const known = await ask("sessions");
  expect(known.rows.map(({ who }) => who)).toContain(`${subject.slice(0, 23)}…`);
  const asked = ["about", "now", "sessions", "streams", "tools", "topics"];
  const answers = await Promise.all(asked.map((name) => ask(name)));
  const text = JSON.stringify(answers);
  expect(new Set(sessions).size).toBeGreaterThanOrEqual(4);
  const token = new URL(page.url ?? "").hash.replace("#token=", "");
  for (const secret of [...sessions, legacy.id, anonymous.id, bearer, claim, argument, subject, token])
    expect(text).not.toContain(secret);
  // A shortened id would still help to guess the rest.
  for (const id of sessions) expect(text).not.toContain(id.slice(0, 20));
  expect(text).not.toMatch(/authorization|issuer\.example/i);
  sse.stream.cut();
});

test("the reasons of refusals have no secrets of a query", async () => {
  const page = dashboard({ onOpen: () => {} });
  const server = new McpServer({ name: "demo", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("echo", {}, () => "echo");
  const http = await serveHttp(server, { port: 0, graceMs: 50, dashboard: page });
  onTestFinished(() => http.close());
  const ask = lookAt(page);
  await ask("now");
  const client = await SessionClient.open(http);
  // The reason repeats what it does not know.
  const { error } = await client.request("https://files.example/a?token=hunter2&page=3");
  expect(JSON.stringify(error)).toContain("token=hunter2");
  const { refusals } = await ask("now");
  expect(JSON.stringify(refusals)).toContain("files.example/a?token=[redacted]&page=3");
  expect(JSON.stringify(refusals)).not.toContain("hunter2");
});
