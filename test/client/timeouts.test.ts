// The limits of time of a request: silence, everything, and what stops the clock.
import { CallTimeout, connect } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { start as overHttp } from "../support/http-script.ts";
import { legacyDates, newestModern } from "../support/revisions.ts";
import { said, ScriptedServer, type Sent, type ServerEnd } from "../support/scripted-wire.ts";
import { deferred, nextTurn } from "../support/turns.ts";

type Options = Parameters<typeof connect>[1];

/** A client of a server whose tool says nothing by itself, with clocks that the test moves. */
async function start(revision: string, options: Options = {}) {
  const server = new ScriptedServer({ revision });
  const client = await connect(server, options);
  onTestFinished(() => client.close());
  const called = deferred<[Sent, ServerEnd]>();
  server.on("tools/call", (...call) => called.resolve(call));
  holdClocks("setTimeout", "clearTimeout");
  return { server, client, called: called.promise };
}

/** Lets this time pass, and whatever it causes happen. */
async function pass(timeMs: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(timeMs);
  await nextTurn();
}

/** Lets time pass, in steps, until it holds; fails when more than `mostMs` have. */
async function passUntil(holds: () => boolean, stepMs: number, mostMs: number): Promise<void> {
  for (let passedMs = 0; !holds(); passedMs += stepMs) {
    if (passedMs > mostMs) throw new Error(`Not true after ${mostMs} ms: ${holds.toString()}`);
    // What goes over a connection takes real time.
    for (let turn = 0; turn < 20 && !holds(); turn++) await nextTurn();
    await pass(stepMs);
  }
}

/** What became of a call so far. */
function watch(call: Promise<unknown>): { outcome: unknown } {
  const watched = { outcome: "waits" as unknown };
  call.then(
    () => (watched.outcome = "result"),
    (error: unknown) => (watched.outcome = error),
  );
  return watched;
}

describe.each(protocolRevisions.map(({ date }) => date))("the time of a call on %s", (revision) => {
  test("timeoutMs ends a silent call, names the tool and the limit, and tells the server [CANCEL-CLIENT-SEND, BASE-ERR-LOCAL, TIMEOUT-ALL, TIMEOUT-PER-REQUEST]", async () => {
    const { server, client, called } = await start(revision, { timeoutMs: 1000 });
    const call = watch(client.callTool("forecast"));
    const [{ id }] = await called;
    await pass(999);
    expect(call.outcome).toBe("waits");
    await pass(1);
    expect(call.outcome).toBeInstanceOf(CallTimeout);
    expect(call.outcome).toMatchObject({
      limit: "timeoutMs",
      message: expect.stringMatching(/^tools\/call forecast: .*1000 ms without.*timeoutMs/),
    });
    expect(server.of("notifications/cancelled").map(({ params }) => params?.["requestId"])).toEqual([id]);
  });

  test("progress begins timeoutMs anew, also without onProgress, and maxTimeMs ends the call all the same [TIMEOUT-PROGRESS-RESET, TIMEOUT-MAX]", async () => {
    const { client, called } = await start(revision);
    const call = watch(client.callTool("forecast", {}, { timeoutMs: 1000, maxTimeMs: 5000 }));
    const [{ id }, end] = await called;
    for (let step = 1; step <= 5; step++) {
      expect(call.outcome).toBe("waits");
      await pass(900);
      end.notify("notifications/progress", { progressToken: id, progress: step });
      await nextTurn();
    }
    expect(call.outcome).toBe("waits");
    await pass(500);
    expect(call.outcome).toMatchObject({
      limit: "maxTimeMs",
      message: expect.stringMatching(/^tools\/call forecast: no response after 5000 ms: raise maxTimeMs/),
    });
  });

  test("progress of another call does not count", async () => {
    const { client, called } = await start(revision, { timeoutMs: 1000 });
    const call = watch(client.callTool("forecast"));
    const [{ id }, end] = await called;
    await pass(600);
    end.notify("notifications/progress", { progressToken: Number(id) + 1, progress: 1 });
    await pass(400);
    expect(call.outcome).toBeInstanceOf(CallTimeout);
  });

  test("a call that is answered leaves no timer", async () => {
    const { server, client } = await start(revision);
    server.on("tools/call", () => said("done"));
    const timers = vi.getTimerCount();
    await client.callTool("forecast");
    expect(vi.getTimerCount()).toBe(timers);
  });

  test("the defaults are a minute of silence, and an hour in all [TIMEOUT-ALL, TIMEOUT-MAX]", async () => {
    const { client, called } = await start(revision);
    const silent = watch(client.callTool("forecast"));
    const [{ id }, end] = await called;
    await pass(59_999);
    end.notify("notifications/progress", { progressToken: id, progress: 1 });
    await pass(1);
    expect(silent.outcome).toBe("waits");
    for (let minutes = 1; minutes < 60; minutes++) {
      end.notify("notifications/progress", { progressToken: id, progress: minutes });
      await pass(59_000);
    }
    expect(silent.outcome).toBe("waits");
    end.notify("notifications/progress", { progressToken: id, progress: 60 });
    await pass(59_000);
    expect(silent.outcome).toMatchObject({ limit: "maxTimeMs" });
  });
});

describe.each(legacyDates)("a question on %s", (revision) => {
  test("stops the clock of silence while the user's handler is at work", async () => {
    const answer = deferred();
    const roots = async (): Promise<[]> => {
      await answer.promise;
      return [];
    };
    const { server, client, called } = await start(revision, { timeoutMs: 1000, roots });
    const call = watch(client.callTool("forecast"));
    const [, end] = await called;
    await pass(500);
    end.send({ jsonrpc: "2.0", id: "q", method: "roots/list" });
    await pass(5000);
    expect(call.outcome).toBe("waits");
    answer.resolve();
    await nextTurn();
    expect(server.received.at(-1)).toMatchObject({ id: "q", result: { roots: [] } });
    await pass(999);
    expect(call.outcome).toBe("waits");
    await pass(1);
    expect(call.outcome).toMatchObject({ limit: "timeoutMs" });
  });
});

test("a round of questions stops the clock of silence, and not the one of everything", async () => {
  const gate = deferred();
  const roots = async (): Promise<[]> => {
    await gate.promise;
    return [];
  };
  const { server, client } = await start(newestModern, { timeoutMs: 1000, maxTimeMs: 10_000, roots });
  const inputRequests = { where: { method: "roots/list", params: {} } };
  server.on("tools/call", () => ({ resultType: "input_required", inputRequests }));
  const call = watch(client.callTool("forecast"));
  await pass(9999);
  expect(call.outcome).toBe("waits");
  await pass(1);
  expect(call.outcome).toMatchObject({ limit: "maxTimeMs" });
});

test("initialize is never cancelled [INIT-NOT-CANCELLABLE]", async () => {
  const [revision = ""] = legacyDates;
  const server = new ScriptedServer({ revision });
  const asked = deferred();
  server.on("initialize", () => asked.resolve());
  const abort = new AbortController();
  const connecting = connect(server, { revision, signal: abort.signal });
  await asked.promise;
  const reason = new Error("Never mind");
  abort.abort(reason);
  await expect(connecting).rejects.toBe(reason);
  expect(server.of("notifications/cancelled")).toEqual([]);
});

describe("the time of what a call does before and after itself", () => {
  const never = (): void => {};

  /** A client over HTTP of a server that never lists its tools. */
  async function unlisted(options: Options = {}) {
    const started = await overHttp(options, (script) => script.on("tools/list", never));
    started.server.on("tools/call", ({ result }) => result(said("done")));
    holdClocks("setTimeout", "clearTimeout");
    return started;
  }

  test.each([
    { limit: "maxTimeMs", options: { maxTimeMs: 2000 }, settings: {} },
    { limit: "maxTimeMs", options: {}, settings: { maxTimeMs: 2000 } },
    { limit: "timeoutMs", options: { timeoutMs: 2000 }, settings: {} },
    { limit: "timeoutMs", options: {}, settings: { timeoutMs: 2000 } },
  ])("a call waits for a list within its $limit, given $options", async ({ limit, options, settings }) => {
    const { server, client } = await unlisted(settings);
    server.on("tools/call", never);
    const call = watch(client.callTool("pay", {}, options));
    await passUntil(() => call.outcome !== "waits", 10, 2000);
    expect(server.of("tools/call")).toHaveLength(1);
    expect(call.outcome).toMatchObject({ code: "TIMEOUT", limit });
  });

  test("a call whose time is over when it could be sent is not sent", async () => {
    const { server, client } = await unlisted();
    client.use(async ({ method }, next) => {
      if (method === "tools/call") await vi.advanceTimersByTimeAsync(2000);
      return next();
    });
    const call = watch(client.callTool("pay", {}, { maxTimeMs: 2000 }));
    await passUntil(() => call.outcome !== "waits", 10, 2000);
    expect(call.outcome).toMatchObject({ code: "TIMEOUT", limit: "maxTimeMs" });
    expect(server.of("tools/call")).toEqual([]);
  });

  test("a strict call waits for the schema of its result within its maxTimeMs", async () => {
    const { server, client } = await unlisted();
    server.on("tools/call", ({ result }) => result({ content: [], structuredContent: {} }));
    const call = watch(client.callTool("pay", {}, { maxTimeMs: 2000, strict: true }));
    await passUntil(() => call.outcome !== "waits", 10, 2000);
    expect(call.outcome).toBe("result");
  });

  test("a list of many pages takes no longer than maxTimeMs in all", async () => {
    const { server, client } = await unlisted();
    server.on("tools/list", ({ message, result }) => {
      setTimeout(() => result({ tools: [], nextCursor: String(message.id) }), 500);
    });
    const call = watch(client.listTools({ maxTimeMs: 2000 }));
    await passUntil(() => call.outcome !== "waits", 10, 2100);
    expect(call.outcome).toMatchObject({ code: "TIMEOUT", limit: "maxTimeMs" });
  });
});

test("a notification waits for the next connection no longer than timeoutMs", async () => {
  const { server, client } = await start(newestModern, { timeoutMs: 2000 });
  server.openWire = () => {
    throw new Error("Down");
  };
  server.end.cut();
  const sent = watch(client.notify("notifications/custom"));
  await passUntil(() => sent.outcome !== "waits", 10, 2000);
  expect(sent.outcome).toMatchObject({ code: "TIMEOUT", limit: "timeoutMs" });
});
