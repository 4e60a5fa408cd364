// The cluster guide, run as it is written: its nginx, three processes of its server, and Redis with its settings and its user.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "halyard";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readBlocks } from "../support/documents.ts";
import { EngineProcess, hasEngine } from "../support/engines.ts";
import { openGet, openSession, post, type RawRequest, type Session, sendTo } from "../support/http.ts";
import type { HttpReply } from "../support/http-reply.ts";
import { programArguments, replaced, wholeConfiguration } from "./guide.ts";
import { canServeSites, freePorts, isListening, Process, startNginx } from "./site.ts";

const path = "docs/guides/cluster.md";
const [program = ""] = readBlocks(path, "ts");
const [site = ""] = readBlocks(path, "nginx");
const [compose = ""] = readBlocks(path, "yaml");
const [acl = ""] = readBlocks("docs/guides/cluster-operations.md", "sh");
const upstreams = [...site.matchAll(/^ {2}server (\S+):3000;$/gm)].map(([, name = ""]) => name);

test("compose.yaml starts the nodes that nginx knows, and gives them what the server reads", () => {
  const services = [...compose.matchAll(/^ {2}([\w-]+):/gm)].map(([, name]) => name);
  expect(services).toEqual(["redis", ...upstreams, "nginx", "data"]);
  const read = [...program.matchAll(/process\.env\["(\w+)"\]/g)].map(([, name]) => name);
  const given = [...compose.matchAll(/^ {6}([A-Z_]+):/gm)].map(([, name]) => name);
  expect(given.toSorted()).toEqual(read.toSorted());
});

/** The arguments of the user that the guide creates, without the quotes of the shell. */
const userArguments = acl
  .trim()
  .split(" ")
  .slice(1)
  .map((word) => word.replaceAll("'", ""));

describe.runIf(canServeSites && hasEngine("redis-server"))("three nodes behind nginx", () => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-cluster-guide-"));
  let redis: EngineProcess;
  let nginx: Process;
  let nodes: Process[];
  let port: number;

  beforeAll(async () => {
    const [own = 0, ...ports] = await freePorts(1 + upstreams.length);
    port = own;
    const args = /command: redis-server (.*)/.exec(compose)?.[1]?.split(" ") ?? [];
    redis = await EngineProcess.start("redis-server", { args });
    expect(redis.cli(...userArguments)).toBe("OK");
    const url = redis.url.replace("redis://", "redis://notes:a-password@");
    const definitions = new URL("fixtures/cluster-definitions.mjs", import.meta.url).href;
    const code = replaced(program, [/^\/\/ Your tools.*$/gm, "define(server);"], ["0.0.0.0", "127.0.0.1"]);
    const node = programArguments(`import { define } from ${JSON.stringify(definitions)};\n${code}`);
    const secret = "a-secret-that-all-nodes-share-and-nobody-else";
    nodes = ports.map(
      (at) =>
        new Process(process.execPath, node, { PORT: String(at), REDIS_URL: url, BACKPLANE_SECRET: secret }),
    );
    const moved = replaced(
      site,
      ["listen 8080", `listen 127.0.0.1:${port}`],
      ...upstreams.map((name, at) => [`${name}:3000`, `127.0.0.1:${ports[at]}`] as const),
    );
    nginx = startNginx(folder, wholeConfiguration(folder, moved));
    await nginx.up(() => isListening(port));
    for (const process of nodes) await process.up(async () => process.said.includes("Serving on"));
  });

  afterAll(async () => {
    await Promise.all([nginx, ...nodes].map((process) => process.stop()));
    await redis.stop();
    rmSync(folder, { recursive: true });
  });

  const edge = {
    send: (request: RawRequest): Promise<HttpReply> =>
      sendTo(port, { ...request, headers: { host: "localhost", ...request.headers } }),
  };

  async function callTool(session: Session, name: string, args: JsonObject = {}): Promise<string> {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
    const { result } = await (await edge.send(post(message, session.headers))).answer();
    const content = result?.["content"] as { readonly text: string }[] | undefined;
    return content?.[0]?.text ?? "";
  }

  /** Which of the nodes serves the next call of the session. */
  async function nodeOf(session: Session): Promise<number> {
    const [, pid] = /process (\d+)$/.exec(await callTool(session, "where")) ?? [];
    return nodes.findIndex(({ child }) => String(child.pid) === pid);
  }

  const dataIn = (stream: HttpReply): unknown[] =>
    (stream.messages as { params?: { data?: unknown } }[]).map(({ params }) => params?.data);

  test("a session continues when the node of its stream is killed, and misses nothing", async () => {
    const session = await openSession(edge, "2025-11-25");
    const served = [await nodeOf(session), await nodeOf(session), await nodeOf(session)];
    expect(served.toSorted()).toEqual([0, 1, 2]);
    // Each request goes to the next node, so this one to the node that served the first call.
    const stream = await openGet(edge, session);
    await callTool(session, "push", { session: session.id, data: "before" });
    await stream.received(1);

    await nodes[served[0] ?? 0]?.stop();
    expect((await stream.ended()).end).toBe("cut");
    expect(await callTool(session, "push", { session: session.id, data: "meanwhile" })).toBe("true");
    const resumed = await openGet(edge, session, { "last-event-id": stream.events.at(-1)?.id });
    onTestFinished(resumed.abort);
    await callTool(session, "push", { session: session.id, data: "after" });
    await resumed.received(2);
    expect([dataIn(stream), dataIn(resumed)]).toEqual([["before"], ["meanwhile", "after"]]);
    expect(new Set([await nodeOf(session), await nodeOf(session)]).size).toBe(2);
  });
});
