// Listening at modern servers that do what ours never does: late, missing, wrong and double acknowledgements, and every way to end.
import {
  CallTimeout,
  type Change,
  type ClientEvent,
  connect,
  type ConnectOptions,
  type McpClient,
} from "halyard/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { metaKeys } from "../support/revisions.ts";
import { ScriptedServer, type Sent, type ServerEnd } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

const method = "subscriptions/listen";
const acknowledged = "notifications/subscriptions/acknowledged";
const toolsChanged = "notifications/tools/list_changed";
const updated = "notifications/resources/updated";
const capabilities = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };
const quick = { firstMs: 1, maxMs: 2, maxAttempts: 20 };

/** The client of a scripted server, and what it told `observe`. */
async function connected(
  server: ScriptedServer,
  options?: ConnectOptions,
): Promise<{ client: McpClient; events: ClientEvent[]; ignored: () => string[] }> {
  const events: ClientEvent[] = [];
  const observe = (event: ClientEvent): void => void events.push(event);
  const client = await connect(server, { backoff: quick, observe, ...options });
  onTestFinished(() => client.close());
  const ignored = (): string[] => events.flatMap((event) => (event.type === "ignored" ? [event.reason] : []));
  return { client, events, ignored };
}

function serverThat(listens: (request: Sent, end: ServerEnd, count: number) => unknown): ScriptedServer {
  const server = new ScriptedServer({ capabilities });
  return server.on(method, (request, end) => listens(request, end, server.of(method).length));
}

/** Acknowledges all that a request asks for. */
function acknowledge(request: Sent, end: ServerEnd, notifications = request.params?.["notifications"]): void {
  tell(request, end, acknowledged, { notifications });
}

/** Sends a notification of that subscription. */
function tell({ id }: Sent, end: ServerEnd, name: string, params?: object): void {
  end.notify(name, { ...params, _meta: { [metaKeys.subscriptionId]: id } });
}

function closing({ id }: Sent): object {
  return { resultType: "complete", _meta: { [metaKeys.subscriptionId]: id } };
}

function collect(): { changes: Change[]; onChange: (change: Change) => void } {
  const changes: Change[] = [];
  return { changes, onChange: (change) => void changes.push(change) };
}

const gap = { kind: "tools", cause: "gap" };
const changed = { kind: "tools", cause: "changed" };

describe("the acknowledgement", () => {
  test("is that of the request, which names what it wants and nothing else [SUB-REQUEST-SHAPE, SUB-ACK-CLIENT-CHECK]", async () => {
    const server = serverThat((request, end) => acknowledge(request, end, { toolsListChanged: true }));
    const { client } = await connected(server);
    const filter = { tools: true, prompts: false, resources: ["note:///a", "note:///b", "note:///a"] };
    const { honoured } = await client.listen(filter);
    expect(server.of(method).map(({ params }) => params?.["notifications"])).toEqual([
      { toolsListChanged: true, resourceSubscriptions: ["note:///a", "note:///b"] },
    ]);
    expect(honoured).toEqual({ tools: true });
  });

  test("of another id, or of the same as text, is not taken for it [STDIO-MODERN-SUB-CORRELATE]", async () => {
    const server = serverThat(() => undefined);
    const { client, ignored } = await connected(server);
    let isOpen = false;
    const opening = client.listen({ tools: true }).then((listening) => ((isOpen = true), listening));
    await until(() => server.of(method).length === 1);
    const [request] = server.of(method);
    for (const id of [String(request!.id), 999, undefined]) acknowledge({ ...request!, id: id! }, server.end);
    await until(() => ignored().length === 3);
    expect(isOpen).toBe(false);
    acknowledge(request!, server.end);
    expect((await opening).honoured).toEqual({ tools: true });
  });

  test("that never comes is a timeout, and the server is told [SUB-CANCEL-CLIENT, STDIO-MODERN-CANCEL]", async () => {
    const server = serverThat(() => undefined);
    const { client } = await connected(server, { timeoutMs: 5000 });
    holdClocks("setTimeout", "clearTimeout");
    const opening = client.listen({ tools: true });
    const outcome = opening.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await outcome).toBeInstanceOf(CallTimeout);
    const [request] = server.of(method);
    expect(server.of("notifications/cancelled").map(({ params }) => params?.["requestId"])).toEqual([
      request!.id,
    ]);
  });

  test("of more than was asked for changes nothing, and the rest is ignored", async () => {
    const server = serverThat((request, end) => {
      acknowledge(request, end, {
        toolsListChanged: true,
        promptsListChanged: true,
        "example.com/rows": ["a"],
      });
      acknowledge(request, end);
      tell(request, end, "notifications/prompts/list_changed");
      tell(request, end, toolsChanged);
    });
    const { client, ignored } = await connected(server);
    const { changes, onChange } = collect();
    const { honoured } = await client.listen({ tools: true }, onChange);
    await until(() => changes.length > 0);
    expect(honoured).toEqual({ tools: true });
    expect(changes).toEqual([changed]);
    expect(ignored()).toEqual([
      expect.stringContaining("promptsListChanged, example.com/rows"),
      expect.stringContaining("twice"),
      expect.stringContaining("prompts/list_changed was not subscribed to"),
    ]);
  });

  test("after a change loses none: the listener reads again", async () => {
    const server = serverThat((request, end) => {
      tell(request, end, toolsChanged);
      acknowledge(request, end);
    });
    const { client, ignored } = await connected(server);
    const { changes, onChange } = collect();
    await client.listen({ tools: true }, onChange);
    expect(changes).toEqual([gap]);
    expect(ignored()).toEqual([expect.stringContaining("before the acknowledgement")]);
  });

  test("of nothing, and -32601, are errors that say so [SUB-ACK-CLIENT-CHECK]", async () => {
    const server = serverThat((request, end) => acknowledge(request, end, {}));
    const { client } = await connected(server);
    await expect(client.listen({ tools: true })).rejects.toThrow(/none of these/);
    expect(server.of("notifications/cancelled")).toHaveLength(1);
    const { client: other } = await connected(new ScriptedServer());
    await expect(other.listen({ tools: true })).rejects.toThrow(/none of these/);
  });
});

describe("a subscription that ends is renewed, and what was missed is read again", () => {
  test.each<[how: string, end: (request: Sent, end: ServerEnd) => unknown]>([
    ["the server answers it", closing],
    ["the server cancels it", ({ id }, end) => end.notify("notifications/cancelled", { requestId: id })],
    ["the connection breaks", (_, end) => end.cut()],
  ])("when %s [SUB-NO-STATE, SUB-UNEXPECTED-CLOSE, STDIO-RESTART-RELISTEN]", async (_, endIt) => {
    const server = serverThat((request, end, count) => {
      acknowledge(request, end);
      return count === 1 ? nextTurn().then(() => endIt(request, end)) : undefined;
    });
    const { client } = await connected(server);
    const { changes, onChange } = collect();
    const filter = { tools: true, resources: ["note:///a", "note:///b"] };
    await client.listen(filter, onChange);
    await until(() => changes.length === 3);
    const again = server.of(method)[1]!;
    tell(again, server.end, updated, { uri: "note:///b" });
    await until(() => changes.length === 4);
    expect(changes).toEqual([
      gap,
      { kind: "resource", uri: "note:///a", cause: "gap" },
      { kind: "resource", uri: "note:///b", cause: "gap" },
      { kind: "resource", uri: "note:///b", cause: "changed" },
    ]);
    const [one, other] = server.of(method);
    expect(other!.params?.["notifications"]).toEqual(one!.params?.["notifications"]);
    expect(other!.id).not.toBe(one!.id);
  });

  test("for every listening, each on a stream of its own [STDIO-RESTART-RELISTEN, SUB-CONCURRENT]", async () => {
    const server = serverThat((request, end) => acknowledge(request, end));
    const { client } = await connected(server);
    const one = collect();
    const other = collect();
    await client.listen({ tools: true }, one.onChange);
    await client.listen({ tools: true }, other.onChange);
    server.end.cut();
    await until(() => one.changes.length === 1 && other.changes.length === 1);
    const requests = server.of(method);
    expect(requests).toHaveLength(4);
    tell(requests[3]!, server.end, toolsChanged);
    tell(requests[0]!, server.end, toolsChanged);
    await until(() => one.changes.length + other.changes.length > 2);
    await client.ping();
    expect([...one.changes, ...other.changes].filter(({ cause }) => cause === "changed")).toHaveLength(1);
  });

  test("with less than before, if the server honours less", async () => {
    const server = serverThat((request, end, count) => {
      acknowledge(request, end, count === 1 ? undefined : { toolsListChanged: true });
      return count === 1 ? closing(request) : undefined;
    });
    const { client } = await connected(server);
    const { changes, onChange } = collect();
    const listening = await client.listen({ tools: true, resources: ["note:///a"] }, onChange);
    await until(() => changes.length > 0);
    expect(changes).toEqual([gap]);
    expect(listening.honoured).toEqual({ tools: true });
  });

  test("and the cache does not answer then [LIST-CHANGED-INVALIDATE]", async () => {
    const server = serverThat((request, end) => acknowledge(request, end));
    const cacheable = { resultType: "complete", ttlMs: 60_000, cacheScope: "private" };
    server.on("tools/list", () => ({ ...cacheable, tools: [] }));
    const { client } = await connected(server);
    const reads: Promise<unknown>[] = [];
    await client.listen({ tools: true }, () => void reads.push(client.listTools()));
    await client.listTools();
    await client.listTools();
    const [request] = server.of(method);
    tell(request!, server.end, "notifications/cancelled", { requestId: request!.id });
    await until(() => reads.length === 1);
    await reads[0];
    expect(server.of("tools/list")).toHaveLength(2);
    tell(server.of(method)[1]!, server.end, toolsChanged);
    await until(() => reads.length === 2);
    await reads[1];
    expect(server.of("tools/list")).toHaveLength(3);
  });

  test("not for ever, if the server ends each at once", async () => {
    const server = serverThat((request, end) => {
      acknowledge(request, end);
      return closing(request);
    });
    const { client, events } = await connected(server, {
      backoff: { ...quick, maxMs: 60_000, maxAttempts: 3 },
    });
    const listening = await client.listen({ tools: true });
    expect(await listening.ended).toMatchObject({ message: "The server ended the subscription" });
    expect(server.of(method)).toHaveLength(4);
    const changes = listening[Symbol.asyncIterator]();
    expect(await changes.next()).toEqual({ done: false, value: gap });
    await expect(changes.next()).rejects.toThrow("The server ended the subscription");
    const states = events.flatMap((event) => (event.type === "stream" ? [event.state] : []));
    expect(states.filter((state) => state === "lost")).toHaveLength(3);
    expect(states.at(-1)).toBe("given-up");
  });

  test("and counted anew after a message", async () => {
    const server = serverThat((request, end, count) => {
      acknowledge(request, end);
      if (count < 8) tell(request, end, toolsChanged);
      return count < 10 ? closing(request) : undefined;
    });
    const { client } = await connected(server, { backoff: { ...quick, maxMs: 60_000, maxAttempts: 3 } });
    const listening = await client.listen({ tools: true }, () => {});
    await until(() => server.of(method).length === 10);
    await listening.close();
    expect(await listening.ended).toBeUndefined();
  });

  test.each([
    ["while the client waits to subscribe again", "later"],
    ["when `observe` says that it is lost", "at once"],
  ])("but not if you close it %s [SUB-CANCEL-CLIENT]", async (_, when) => {
    const again = deferred<string>();
    const server = serverThat((request, end, count) => {
      if (count > 1) return again.resolve("subscribed again");
      acknowledge(request, end);
      return closing(request);
    });
    const stop = new AbortController();
    const lost = deferred();
    const { client } = await connected(server, {
      backoff: { firstMs: 600_000, maxMs: 600_000, maxAttempts: 20 },
      observe: (event) => {
        if (event.type !== "stream" || event.state !== "lost") return;
        if (when === "at once") stop.abort();
        lost.resolve();
      },
    });
    const { ended } = await client.listen({ tools: true }, () => {}, { signal: stop.signal });
    await lost.promise;
    stop.abort();
    expect(await Promise.race([ended, again.promise])).toBeUndefined();
  });

  test("but not if the first was never acknowledged", async () => {
    const server = serverThat(closing);
    const { client } = await connected(server);
    await expect(client.listen({ tools: true })).rejects.toThrow(/without an acknowledgement/);
    expect(server.of(method)).toHaveLength(1);
  });

  test("unless the connection cannot be opened again", async () => {
    const server = new ScriptedServer({ capabilities, reopens: false });
    server.on(method, acknowledge);
    const { client } = await connected(server);
    const listening = await client.listen({ tools: true }, () => {});
    server.end.cut();
    expect(await listening.ended).toMatchObject({ name: "ConnectionLost" });
    expect(server.of(method)).toHaveLength(1);
  });
});

describe("changes", () => {
  test("go to the subscription whose id they carry, and to none after its end [STDIO-MODERN-SUB-CORRELATE, SUB-CANCEL-CLIENT]", async () => {
    const server = serverThat((request, end) => acknowledge(request, end));
    const { client } = await connected(server);
    const one = collect();
    const other = collect();
    const first = await client.listen({ tools: true }, one.onChange);
    await client.listen({ tools: true }, other.onChange);
    const [a, b] = server.of(method);
    tell(a!, server.end, toolsChanged);
    tell(b!, server.end, toolsChanged);
    tell(b!, server.end, toolsChanged);
    await until(() => other.changes.length === 2);
    expect(one.changes).toHaveLength(1);
    await first.close();
    expect(server.of("notifications/cancelled").map(({ params }) => params?.["requestId"])).toEqual([a!.id]);
    tell(a!, server.end, toolsChanged);
    tell(b!, server.end, toolsChanged);
    await until(() => other.changes.length === 3);
    expect(one.changes).toHaveLength(1);
  });

  test("that wait for a reader wait once each, and too many become one that says read again", async () => {
    const server = serverThat((request, end) => acknowledge(request, end));
    const { client } = await connected(server, { limits: { maxChanges: 3 } });
    const resources = ["a", "b", "c", "d", "e"].map((name) => `note:///${name}`);
    const listening = await client.listen({ tools: true, resources });
    const [request] = server.of(method);
    const tellAll = async (...uris: string[]): Promise<void> => {
      tell(request!, server.end, toolsChanged);
      for (const uri of uris) tell(request!, server.end, updated, { uri });
      await client.ping();
    };
    const changes = listening[Symbol.asyncIterator]();
    const next = async (): Promise<unknown> => (await changes.next()).value;
    await tellAll("note:///a", "note:///b", "note:///a");
    await tellAll("note:///b");
    expect([await next(), await next(), await next()]).toEqual([
      changed,
      { kind: "resource", uri: "note:///a", cause: "changed" },
      { kind: "resource", uri: "note:///b", cause: "changed" },
    ]);
    await tellAll(...resources);
    await tellAll(...resources);
    expect([await next(), await next()]).toEqual([changed, { kind: "resource", cause: "gap" }]);
    await tellAll("note:///e");
    expect([await next(), await next()]).toEqual([
      changed,
      { kind: "resource", uri: "note:///e", cause: "changed" },
    ]);
  });

  test("that make onChange fail are reported, and the next ones arrive", async () => {
    const server = serverThat((request, end) => acknowledge(request, end));
    const { client, ignored } = await connected(server);
    let calls = 0;
    await client.listen({ tools: true }, () => {
      if (++calls === 1) throw new Error("first");
      return Promise.reject(new Error("second"));
    });
    const [request] = server.of(method);
    tell(request!, server.end, toolsChanged);
    tell(request!, server.end, toolsChanged);
    await until(() => ignored().length === 2);
    expect(ignored()).toEqual([expect.stringContaining("first"), expect.stringContaining("second")]);
  });

  test("end with close, although more have arrived [SUB-CANCEL-CLIENT]", async () => {
    const server = serverThat((request, end) => acknowledge(request, end));
    const { client } = await connected(server);
    const changes: Change[] = [];
    const listening = await client.listen({ tools: true }, async (change) => {
      changes.push(change);
      await listening.close();
    });
    const [request] = server.of(method);
    for (let times = 0; times < 5; times++) tell(request!, server.end, toolsChanged);
    await listening.ended;
    await client.ping();
    expect(changes).toHaveLength(1);
  });

  test("cannot be iterated over beside onChange", async () => {
    const server = serverThat((request, end) => acknowledge(request, end));
    const { client } = await connected(server);
    const listening = await client.listen({ tools: true }, () => {});
    expect(() => listening[Symbol.asyncIterator]()).toThrow(/leave it out to iterate/);
  });
});
