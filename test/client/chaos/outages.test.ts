// Outages one at a time: a server that is killed and started again, a network that changes, and a server that is out of reach.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import {
  type Change,
  type ClientEvent,
  type CommandTarget,
  connect,
  type ConnectOptions,
  ConnectionLost,
  type McpClient,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ChaosProxy } from "../../support/chaos-proxy.ts";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { deferred, until } from "../../support/turns.ts";
import { Subject } from "./subject.ts";

const path = fileURLToPath(new URL("fixtures/server.mjs", import.meta.url));
const backoff = { firstMs: 2, maxMs: 40, maxAttempts: 10_000 };

interface Connected {
  readonly client: McpClient;
  readonly changes: Change[];
}

/** A client that listens for the tools of a server. */
async function listening(target: string | CommandTarget, options: ConnectOptions): Promise<Connected> {
  const client = await connect(target, { backoff, ...options });
  onTestFinished(() => client.close());
  const changes: Change[] = [];
  await client.listen({ tools: true }, (change) => void changes.push(change));
  return { client, changes };
}

async function pidOf(client: McpClient): Promise<number> {
  const { content } = await client.callTool("pid");
  return Number((content[0] as { text: string }).text);
}

/** A call that waits at the server for ever: what it comes to, once it is there. */
async function waiting(client: McpClient): Promise<{ readonly outcome: Promise<unknown> }> {
  const begun = deferred();
  const call = client.callTool("wait", {}, { onProgress: () => begun.resolve() });
  const outcome = call.catch((error: unknown) => error);
  await begun.promise;
  return { outcome };
}

/** Starts the server over HTTP, and resolves with its URL. */
async function startHttp(port: number): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [path, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, url: line.toString().trim() };
}

describe.each([newestModern, newestLegacy])("a server of %s that is killed and started again", (revision) => {
  test("over HTTP: the client says what is lost, and continues by itself [SESS-404-REINIT]", async () => {
    const { child, url } = await startHttp(0);
    const { client, changes } = await listening(url, { revision });
    const before = await pidOf(client);
    const { outcome } = await waiting(client);
    child.kill("SIGKILL");
    // One connection may look alive and accept a request; new ones are refused.
    await until(async () => {
      const error = await client.callTool("wait").catch((reason: unknown) => reason);
      return error instanceof ConnectionLost && error.reason === "unreachable" && !error.mayHaveRun;
    });
    await startHttp(Number(new URL(url).port));
    expect(await outcome).toMatchObject({ reason: "cut", mayHaveRun: true });
    await until(() =>
      pidOf(client).then(
        (pid) => pid !== before,
        () => false,
      ),
    );
    await until(() => changes.length > 0);
    expect(changes).toEqual([{ kind: "tools", cause: "gap" }]);
    expect(client.state.name).toBe("ready");
  });

  test("over stdio, with restart: the client says what is lost, and starts it again [STDIO-RESTART-RELISTEN]", async () => {
    const target = { command: process.execPath, args: [path], restart: true };
    const { client, changes } = await listening(target, { revision });
    const before = await pidOf(client);
    const { outcome } = await waiting(client);
    process.kill(before, "SIGKILL");
    expect(await outcome).toMatchObject({ reason: "exited", mayHaveRun: true });
    expect(await pidOf(client)).not.toBe(before);
    await until(() => changes.length > 0);
    expect(changes).toEqual([{ kind: "tools", cause: "gap" }]);
    expect(client.state.name).toBe("ready");
  });
});

interface Behind extends Connected {
  readonly subject: Subject;
  readonly proxy: ChaosProxy;
}

/** A client behind a proxy, which listens for the tools of the server, and has heard of a change on its stream. */
async function behindProxy(options: ConnectOptions, dropsIds = false): Promise<Behind> {
  const subject = new Subject();
  const proxy = await ChaosProxy.open(await subject.open(), { seed: 1, rate: 0, dropsIds });
  onTestFinished(async () => {
    await proxy.close();
    await subject.close();
  });
  const connected = await listening(proxy.url, { cache: false, ...options });
  await until(() => subject.stats().streams === 1);
  subject.changeTools();
  await until(() => connected.changes.length === 1);
  connected.changes.length = 0;
  return { subject, proxy, ...connected };
}

const gap: Change = { kind: "tools", cause: "gap" };
const changed: Change = { kind: "tools", cause: "changed" };

describe.each([
  { name: "a modern server", revision: newestModern, told: [gap] },
  { name: "a legacy server whose stream resumes", revision: newestLegacy, told: [changed] },
  {
    name: "a legacy server whose stream does not resume",
    revision: newestLegacy,
    dropsIds: true,
    told: [gap, changed],
  },
])("a listening at $name", ({ revision, dropsIds, told }) => {
  test("tells what was missed while its connection was broken, once each time", async () => {
    const { changes, subject, proxy } = await behindProxy({ revision }, dropsIds);
    for (let time = 1; time <= 3; time++) {
      await proxy.down();
      await until(() => subject.stats().streams === 0);
      subject.changeTools();
      await proxy.up();
      await until(() => changes.length >= told.length && subject.stats().streams === 1);
      // What comes after it comes last, so that nothing more of the outage can follow.
      subject.changeTools();
      await until(() => changes.length > told.length);
      expect(changes.splice(0)).toEqual([...told, changed]);
    }
  });
});

describe.each([newestModern, newestLegacy])("a client of %s", (revision) => {
  test("continues after a change of network, which breaks every connection at once", async () => {
    const { client, subject, proxy } = await behindProxy({ revision });
    await client.listTools();
    const held = 10;
    proxy.decide = () => ({ kind: "delayed", beforeMs: 1e6 });
    const reads = Array.from({ length: held }, (_, at) => client.readResource(`note:///${at}`));
    const payment = client.callTool("pay", { key: "payment" }).catch((error: unknown) => error);
    await until(() => proxy.passed.filter(({ what }) => what === "tools/call").length === 1);
    await until(() => proxy.passed.filter(({ what }) => what === "resources/read").length === held);
    proxy.decide = () => undefined;
    proxy.breakAll();
    expect(await Promise.all(reads)).toHaveLength(held);
    expect(await payment).toBeInstanceOf(ConnectionLost);
    expect(await payment).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(proxy.passed.filter(({ what }) => what === "resources/read")).toHaveLength(2 * held);
    expect(subject.runsOf("payment")).toBe(0);
    expect(client.state.name).toBe("ready");
  });

  test("leaves no connection open at close, whatever the server does", async () => {
    const { client, proxy } = await behindProxy({ revision });
    proxy.decide = (what) =>
      what === "DELETE" ? { kind: "refused", status: 503 } : { kind: "delayed", beforeMs: 1e6 };
    const read = client.readResource("note:///a").catch((error: unknown) => error);
    await until(() => proxy.passed.some(({ what }) => what === "resources/read"));
    await client.close();
    expect(await read).toMatchObject({ reason: "closed" });
    await until(() => proxy.connections.length === 0);
  });

  test("shortens its waits at random", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    onTestFinished(() => void vi.restoreAllMocks());
    const waited: number[] = [];
    const observe = (event: ClientEvent): void => {
      if (event.type === "retry") waited.push(event.waitMs);
    };
    const waits = { firstMs: 8, maxMs: 80, maxAttempts: 6 };
    const { client, proxy } = await behindProxy({ revision, observe, backoff: waits });
    proxy.decide = () => ({ kind: "request cut", at: 0, isReset: true });
    await expect(client.readResource("note:///a")).rejects.toThrow(ConnectionLost);
    expect(waited).toEqual([6, 12]);
  });

  test("tries a stream that breaks at once again after waits that grow, and so many times", async () => {
    const waits = { firstMs: 10, maxMs: 80, maxAttempts: 6 };
    const { client, proxy } = await behindProxy({ revision, backoff: waits });
    const stream = revision === newestModern ? "subscriptions/listen" : "GET";
    const calls = 20;
    const before = proxy.passed.length;
    proxy.decide = () => ({ kind: "request cut", at: 0, isReset: true });
    proxy.breakAll();
    const reads = Array.from({ length: calls }, (_, at) => client.readResource(`note:///${at}`));
    const lost = await Promise.all(reads.map((read) => read.catch((error: unknown) => error)));
    for (const error of lost) expect(error).toMatchObject({ reason: "cut", mayHaveRun: true });
    const triedFor = (what: string): number[] =>
      proxy.passed
        .slice(before)
        .filter((passed) => passed.what === what)
        .map(({ at }) => at);
    await until(() => triedFor(stream).length === waits.maxAttempts);
    expect(triedFor("resources/read")).toHaveLength(3 * calls);
    const times = triedFor(stream);
    const waited = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    const least = [10, 20, 40, 40, 40];
    // A timer may fire a little before its time.
    expect(waited.every((time, at) => time >= (least[at] ?? 0) - 1)).toBe(true);
    expect(proxy.passed.length - before).toBe(waits.maxAttempts + 3 * calls);
  });
});
