// Requests of a client: what goes over the wire, and what their results and errors mean.
import { type ClientEvent, connect, InvalidResponse, RpcRejection, ToolCallError } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { legacyDates, metaKeys, newestLegacy, newestModern } from "../support/revisions.ts";
import { metaOf, Refuse, said, type ScriptedOptions, ScriptedServer } from "../support/scripted-wire.ts";
import { deferred } from "../support/turns.ts";

type Options = Parameters<typeof connect>[1];

async function start(
  scripted: ScriptedOptions = {},
  options: Options = {},
): Promise<{ server: ScriptedServer; client: Awaited<ReturnType<typeof connect>> }> {
  const server = new ScriptedServer(scripted);
  const client = await connect(server, options);
  onTestFinished(() => client.close());
  return { server, client };
}

describe.each(protocolRevisions.map(({ date }) => date))("a client on %s", (revision) => {
  test("callTool sends the name and arguments, and returns the result", async () => {
    const { server, client } = await start({ revision });
    server.on("tools/call", () => said("21 °C"));
    const { content } = await client.callTool("forecast", { city: "Oslo" });
    expect(content).toEqual([{ type: "text", text: "21 °C" }]);
    expect(server.of("tools/call")[0]?.params).toMatchObject({
      name: "forecast",
      arguments: { city: "Oslo" },
    });
    expect(client.revision).toBe(revision);
  });

  test("requests get distinct ids, which are also the tokens of their progress [BASE-REQ-ID-UNIQUE-INFLIGHT, BASE-REQ-ID-UNIQUE-SESSION, PROG-TOKEN-UNIQUE, PROG-TOKEN-TYPE, BASE-REQ-ID-TYPE]", async () => {
    const { server, client } = await start({ revision });
    server.on("tools/call", () => said("done"));
    await Promise.all([client.callTool("a"), client.callTool("b"), client.callTool("c")]);
    const ids = server.received.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => Number.isSafeInteger(id))).toBe(true);
    for (const { id, params } of server.of("tools/call"))
      expect(params?.["_meta"]).toMatchObject({ progressToken: id });
  });

  test("onProgress receives what the server reports for its own request, and nothing after the result [PROG-ACTIVE-ONLY, PROG-STOP]", async () => {
    const { server, client } = await start({ revision });
    const seen: unknown[] = [];
    server.on("tools/call", (call, end) => {
      const { id } = call;
      const mine = metaOf(call)["progressToken"];
      end.notify("notifications/progress", { progressToken: mine, progress: 1, total: 2, message: "half" });
      end.notify("notifications/progress", { progressToken: "another", progress: 9 });
      end.send({ jsonrpc: "2.0", id, result: said("done") });
    });
    await client.callTool("slow", {}, { onProgress: (progress) => seen.push(progress) });
    const [token] = server.of("tools/call").map(({ id }) => id);
    server.end.notify("notifications/progress", { progressToken: token, progress: 2 });
    await client.callTool("slow");
    expect(seen).toEqual([{ progress: 1, total: 2, message: "half" }]);
  });

  test("an error response rejects with RpcRejection, with its code, message and data", async () => {
    const { server, client } = await start({ revision });
    server.on("prompts/get", () => {
      throw new Refuse(-32602, "No such prompt", { name: "x" });
    });
    const error = await client.getPrompt("x").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcRejection);
    expect(error).toMatchObject({ code: -32602, message: "No such prompt", data: { name: "x" } });
  });

  test("aborting tells the server which request it need not answer, and rejects with the reason [CANCEL-CLIENT-SEND, CANCEL-REF-LEGACY, CANCEL-REF-MODERN, STDIO-MODERN-CANCEL, CANCEL-LATE-RESPONSE]", async () => {
    const events: ClientEvent[] = [];
    const { server, client } = await start({ revision }, { observe: (event) => events.push(event) });
    const called = deferred();
    const answer = deferred();
    server.on("tools/call", async () => {
      called.resolve();
      await answer.promise;
      return said("too late");
    });
    const abort = new AbortController();
    const call = client.callTool("slow", {}, { signal: abort.signal });
    await called.promise;
    const reason = new Error("The user left");
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
    answer.resolve();
    server.on("tools/call", () => said("next"));
    await expect(client.callTool("next")).resolves.toMatchObject({ content: [{ text: "next" }] });
    expect(events.filter(({ type }) => type === "ignored")).toEqual([]);
    expect(server.ends).toHaveLength(1);
    expect(server.of("notifications/cancelled").map(({ params }) => params?.["requestId"])).toEqual([
      server.of("tools/call")[0]?.id,
    ]);
  });

  test("a signal that is aborted already sends nothing", async () => {
    const { server, client } = await start({ revision });
    const reason = new Error("Too late");
    const signal = AbortSignal.abort(reason);
    await expect(client.callTool("never", {}, { signal })).rejects.toBe(reason);
    expect(server.of("tools/call")).toEqual([]);
  });

  test("ping resolves when the server answers", async () => {
    const { server, client } = await start({ revision });
    const before = server.received.length;
    await client.ping();
    expect(server.received.slice(before).map(({ method }) => method)).toEqual([
      revision === newestModern ? "server/discover" : "ping",
    ]);
  });

  test("getPrompt, readResource and complete send what the protocol asks for [COMP-REF, COMP-CONTEXT, PROMPT-ARGS-STRINGS]", async () => {
    const { server, client } = await start({ revision });
    server
      .on("prompts/get", () => ({ messages: [] }))
      .on("resources/read", () => ({ contents: [] }))
      .on("completion/complete", () => ({ completion: { values: ["Oslo"] } }));
    await client.getPrompt("weather", { city: "Oslo" });
    await client.readResource(new URL("note:///a"));
    const ref = { type: "ref/prompt", name: "weather" } as const;
    const { completion } = await client.complete(
      ref,
      { name: "city", value: "O" },
      { context: { unit: "C" } },
    );
    expect(completion.values).toEqual(["Oslo"]);
    expect(server.of("prompts/get")[0]?.params).toMatchObject({
      name: "weather",
      arguments: { city: "Oslo" },
    });
    expect(server.of("resources/read")[0]?.params).toMatchObject({ uri: "note:///a" });
    expect(server.of("completion/complete")[0]?.params).toMatchObject({
      ref,
      argument: { name: "city", value: "O" },
      context: { arguments: { unit: "C" } },
    });
    const invalid = { days: 3 } as unknown as Record<string, string>;
    await expect(client.getPrompt("weather", invalid)).rejects.toThrow(/days must be a string/);
  });

  test("a result with isError is returned, and thrown with throwOnError", async () => {
    const { server, client } = await start({ revision });
    const failed = { ...said("No such city"), isError: true };
    server.on("tools/call", () => failed);
    await expect(client.callTool("forecast")).resolves.toMatchObject({ isError: true });
    const error = await client
      .callTool("forecast", {}, { throwOnError: true })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ToolCallError);
    expect(error).toMatchObject({ message: "forecast: No such city", result: failed });
  });

  test("a result that is not an object, or comes with an error, is invalid [BASE-RESULT-FIELD, BASE-RESP-XOR]", async () => {
    const { server, client } = await start({ revision });
    server.on("a", ({ id }, end) => end.send({ jsonrpc: "2.0", id, result: "text" }));
    server.on("b", ({ id }, end) =>
      end.send({ jsonrpc: "2.0", id, result: {}, error: { code: 1, message: "?" } }),
    );
    server.on("c", ({ id }, end) => end.send({ jsonrpc: "2.0", id, error: "text" }));
    for (const method of ["a", "b", "c"])
      await expect(client.request(method), method).rejects.toBeInstanceOf(InvalidResponse);
  });

  test("calls that wait reject when the client is closed, and later ones at once", async () => {
    const { server, client } = await start({ revision });
    const called = deferred();
    server.on("tools/call", () => called.resolve());
    const call = client.callTool("slow");
    const outcome = expect(call).rejects.toMatchObject({ code: "CONNECTION_LOST", reason: "closed" });
    await called.promise;
    await client.close();
    await outcome;
    await expect(client.callTool("later")).rejects.toMatchObject({ reason: "closed", mayHaveRun: false });
    await expect(client.notify("notifications/x")).rejects.toMatchObject({ reason: "closed" });
  });
});

describe("a modern client", () => {
  test("sends its revision, capabilities and name with each request [META-REQ-VERSION, META-REQ-CAPS, META-REQ-CLIENTINFO, VER-META-EVERY-REQUEST, STDIO-MODERN-META-INLINE, VER-CAP-EMPTY]", async () => {
    const info = { name: "tester", version: "3.0.0" };
    const { server, client } = await start({}, { info, roots: [] });
    server.on("tools/call", () => said("done")).on("custom/method", () => ({}));
    await client.callTool("a");
    await client.request("custom/method");
    await client.request("custom/method", { x: 1 });
    const requests = server.received.filter(({ id }) => id !== undefined);
    expect(requests.length).toBeGreaterThan(3);
    for (const { params } of requests) {
      expect(params?.["_meta"]).toMatchObject({
        [metaKeys.protocolVersion]: newestModern,
        [metaKeys.clientCapabilities]: { roots: {} },
        [metaKeys.clientInfo]: info,
      });
    }
  });

  test("keeps the caller's _meta beside its own, which wins", async () => {
    const { server, client } = await start();
    server.on("custom/method", () => ({}));
    const own = { traceparent: "00-1-2-01", [metaKeys.protocolVersion]: "1999-01-01" };
    await client.request("custom/method", { x: 1, _meta: own });
    expect(server.of("custom/method")[0]?.params).toMatchObject({
      x: 1,
      _meta: { traceparent: "00-1-2-01", [metaKeys.protocolVersion]: newestModern },
    });
  });

  test("takes a result without resultType as complete [BASE-RESULTTYPE-ABSENT]", async () => {
    const { server, client } = await start();
    server.on("tools/call", () => ({ content: [] }));
    await expect(client.callTool("a")).resolves.toEqual({ content: [] });
  });

  test("rejects results of an unknown type, and tasks where none can be [BASE-RESULTTYPE-UNKNOWN, BASE-RESULTTYPE-EXT-SET, TASKX-CLIENT-UNSUPPORTED-METHOD]", async () => {
    const { server, client } = await start();
    server.on("tools/call", () => ({ resultType: "surprise", content: [] }));
    server.on("prompts/get", () => ({ resultType: "task", taskId: "1" }));
    await expect(client.callTool("a")).rejects.toThrow(/tools\/call a: .*"surprise"/);
    await expect(client.getPrompt("a")).rejects.toBeInstanceOf(InvalidResponse);
  });

  test("hands a result that asks for input to the caller who wants that", async () => {
    const { server, client } = await start();
    const asks = { resultType: "input_required", inputRequests: {}, requestState: "s" };
    server.on("tools/call", () => asks);
    await expect(client.callTool("a", {}, { inputRequired: "return" })).resolves.toEqual(asks);
  });

  test("answers rounds of questions, and sends the original parameters with a fresh id [MRTR-CLIENT-RETRY-PARAMS, MRTR-CLIENT-NEW-ID, MRTR-CLIENT-STATE-ECHO, MRTR-CLIENT-STATE-ABSENT]", async () => {
    const roots = [{ uri: "file:///work", name: "work" }];
    const { server, client } = await start({}, { roots });
    const ask = { method: "roots/list", params: {} };
    const rounds = [
      { resultType: "input_required", inputRequests: { where: ask }, requestState: "s 1" },
      { resultType: "input_required", inputRequests: { again: ask } },
      said("done"),
    ];
    server.on("tools/call", () => rounds.shift());
    await expect(client.callTool("a", { x: 1 })).resolves.toMatchObject({ content: [{ text: "done" }] });
    const [first, second, third] = server.of("tools/call");
    expect(new Set([first?.id, second?.id, third?.id]).size).toBe(3);
    expect(second?.params).toMatchObject({
      name: "a",
      arguments: { x: 1 },
      inputResponses: { where: { roots } },
      requestState: "s 1",
    });
    expect(third?.params).toMatchObject({ arguments: { x: 1 }, inputResponses: { again: { roots } } });
    expect(third?.params).not.toHaveProperty("requestState");
  });

  test("gives up after maxRounds", async () => {
    const { server, client } = await start({}, { roots: [], limits: { maxRounds: 2 } });
    const inputRequests = { where: { method: "roots/list", params: {} } };
    server.on("tools/call", () => ({ resultType: "input_required", inputRequests }));
    await expect(client.callTool("a")).rejects.toThrow(/tools\/call a: .*2.*maxRounds/);
    expect(server.of("tools/call")).toHaveLength(3);
  });

  test("sends no notification of older revisions [BASE-CLIENT-NOTIF-SET, ROOTS-LISTCHANGED-REMOVED]", async () => {
    const { server, client } = await start({}, { roots: [] });
    await client.rootsChanged();
    await expect(client.notify("notifications/roots/list_changed")).rejects.toThrow(RangeError);
    expect(server.received.filter(({ id }) => id === undefined)).toEqual([]);
  });

  test("asks for log messages with each request, at the level of the call or the client [DEPR-STILL-WORK]", async () => {
    const logged: unknown[] = [];
    const { server, client } = await start({}, { onLog: (entry) => logged.push(entry) });
    server.on("tools/call", (_, end) => {
      end.notify("notifications/message", { level: "error", logger: "db", data: "lost" });
      return said("done");
    });
    await client.callTool("a");
    await client.callTool("a", {}, { logLevel: "debug" });
    await client.setLogLevel("error");
    await client.callTool("a");
    const levels = server.of("tools/call").map((call) => metaOf(call)[metaKeys.logLevel]);
    expect(levels).toEqual(["info", "debug", "error"]);
    expect(logged[0]).toEqual({ level: "error", logger: "db", data: "lost" });
  });
});

describe.each(legacyDates)("a legacy client on %s", (revision) => {
  test("sends params only if there are some, and no _meta of its own [INIT-RESPECT-VERSION]", async () => {
    const { server, client } = await start({ revision });
    server.on("custom/method", () => ({}));
    await client.request("custom/method");
    expect(server.of("custom/method")[0]).toEqual({
      jsonrpc: "2.0",
      id: expect.any(Number),
      method: "custom/method",
    });
  });

  test("tells the server that the roots have changed [ROOTS-LISTCHANGED]", async () => {
    const { server, client } = await start({ revision }, { roots: [] });
    await client.rootsChanged();
    expect(server.of("notifications/roots/list_changed")).toHaveLength(1);
  });

  test("sets the level of log messages where the server has logging, and again in a new session [INIT-RESPECT-CAPS]", async () => {
    const server = new ScriptedServer({ revision, capabilities: { logging: {} } });
    server.on("logging/setLevel", () => ({})).on("tools/call", () => said("done"));
    const client = await connect(server, { onLog: () => {}, logLevel: "warning", backoff: { firstMs: 1 } });
    onTestFinished(() => client.close());
    await client.setLogLevel("error");
    server.end.cut();
    await client.callTool("a");
    expect(server.of("logging/setLevel").map(({ params }) => params)).toEqual([
      { level: "warning" },
      { level: "error" },
      { level: "error" },
    ]);
    const without = await start({ revision }, { onLog: () => {} });
    expect(without.server.of("logging/setLevel")).toEqual([]);
  });

  test("connects to a server that rejects the level", async () => {
    const seen: unknown[] = [];
    const server = new ScriptedServer({ revision, capabilities: { logging: {} } });
    const client = await connect(server, { onLog: () => {}, observe: (event) => seen.push(event) });
    onTestFinished(() => client.close());
    expect(seen).toContainEqual({ type: "ignored", reason: expect.stringMatching(/logging\/setLevel/) });
  });
});

test("callTool refuses the object form of other clients, and says how to write it", async () => {
  const { server, client } = await start({ revision: newestLegacy });
  const call = client.callTool({ name: "forecast", arguments: {} } as unknown as string);
  await expect(call).rejects.toThrow(/callTool\("forecast", \{ city: "Oslo" \}\)/);
  expect(server.of("tools/call")).toEqual([]);
});

test("more than maxInFlight requests at once are refused", async () => {
  const { server, client } = await start({}, { limits: { maxInFlight: 2 } });
  const gate = deferred();
  server.on("tools/call", async () => {
    await gate.promise;
    return said("done");
  });
  const calls = [client.callTool("a"), client.callTool("a")];
  const refused = await client.callTool("a").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RangeError);
  expect(refused).toMatchObject({ message: expect.stringMatching(/^tools\/call: 2 .*limits\.maxInFlight/) });
  gate.resolve();
  await Promise.all(calls);
  await expect(client.callTool("a")).resolves.toBeDefined();
});

test("observe sees each request once, with its name, outcome and attempts", async () => {
  const events: unknown[] = [];
  const { server, client } = await start({}, { observe: (event) => events.push(event) });
  server.on("tools/call", () => said("done"));
  await client.callTool("a");
  await client.getPrompt("b").catch(() => {});
  const requests = events.filter((event) => (event as { type: string }).type === "request");
  expect(requests).toMatchObject([
    { method: "tools/call", name: "a", outcome: "ok", attempts: 1 },
    { method: "prompts/get", name: "b", outcome: "error", attempts: 1 },
  ]);
});
