// Every message that a client sends or receives over a transport of the test's own: its envelope, its order, and what is answered.
import {
  type ClientEvent,
  connect,
  type ConnectOptions,
  type McpClient,
  RpcRejection,
  type Wire,
} from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { legacyDates, metaKeys, newestModern } from "../support/revisions.ts";
import { metaOf, Refuse, said, ScriptedServer, type Sent } from "../support/scripted-wire.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

interface Opened {
  readonly server: ScriptedServer;
  readonly client: McpClient;
  /** What the client sent, frame by frame, as text. */
  readonly frames: string[];
  /** What the client ignored, and why. */
  readonly ignored: string[];
}

async function open(revision: string, options: ConnectOptions = {}): Promise<Opened> {
  const server = new ScriptedServer({ revision });
  server.on("tools/call", () => said("done")).on("tools/list", () => ({ tools: [] }));
  const frames: string[] = [];
  const openWire = (): Wire => {
    const wire = server.openWire();
    const send = wire.send.bind(wire);
    return Object.assign(wire, { send: (text: string) => (frames.push(text), send(text)) });
  };
  const ignored: string[] = [];
  const observe = (event: ClientEvent): void => void (event.type === "ignored" && ignored.push(event.reason));
  const client = await connect({ openWire, reopens: false }, { revision, ...options, observe });
  onTestFinished(() => client.close());
  return { server, client, frames, ignored };
}

const isRequest = (message: Sent): boolean => message.method !== undefined && message.id !== undefined;
const responsesOf = ({ server }: Opened): Sent[] =>
  server.received.filter(({ method }) => method === undefined);

/** Uses the client in every way that sends something, with a server that asks whatever it can. */
async function useEverything({ server, client }: Opened): Promise<void> {
  server.end.send({ jsonrpc: "2.0", id: "q1", method: "roots/list" });
  server.end.send({ jsonrpc: "2.0", id: 0, method: "ping" });
  server.end.send({ jsonrpc: "2.0", id: 2, method: "no/such" });
  await Promise.all([client.callTool("a"), client.callTool("b", { x: "ü" }), client.listTools()]);
  await client.ping();
  await client.notify("notifications/custom", { a: 1 });
  await client.notify("notifications/empty");
  await client.rootsChanged();
  server.on("tools/call", () => undefined);
  const aborting = new AbortController();
  const held = client.callTool("held", {}, { signal: aborting.signal });
  await until(() => server.of("tools/call").length === 3);
  aborting.abort(new Error("Enough"));
  await expect(held).rejects.toThrow("Enough");
  await nextTurn();
}

describe.each(protocolRevisions)("a client on $date", ({ date: revision, era }) => {
  test("sends each message alone, as an object of JSON-RPC 2.0 whose id says what it is [BASE-JSONRPC-2, BASE-REQ-ID-TYPE, BASE-REQ-ID-NOT-NULL, BASE-NOTIF-NO-ID, BASE-BATCH-REMOVED, BASE-BATCH-NO-INIT]", async () => {
    const opened = await open(revision, { roots: [] });
    await useEverything(opened);
    const messages = opened.frames.map((frame) => JSON.parse(frame) as Sent & { readonly jsonrpc?: string });
    for (const message of messages) {
      expect(Array.isArray(message)).toBe(false);
      expect(message.jsonrpc).toBe("2.0");
      if (message.method === undefined) expect("result" in message).not.toBe("error" in message);
      else if ("id" in message) expect(Number.isSafeInteger(message.id)).toBe(true);
      else expect(message.method).toMatch(/^notifications\//);
    }
    const requests = messages.filter(isRequest).map(({ method }) => method);
    expect(requests[0]).toBe(era === "modern" ? "server/discover" : "initialize");
    expect(requests.filter((method) => method === "tools/call")).toHaveLength(3);
    expect(messages.some(({ method }) => method === "notifications/cancelled")).toBe(true);
  });

  test("keeps the lifecycle and the message patterns on a transport of one's own [CUSTOM-PRESERVE-LEGACY, CUSTOM-PRESERVE-MODERN, CUSTOM-DIRECTIONS]", async () => {
    const opened = await open(revision, { roots: [] });
    await useEverything(opened);
    const { server, ignored } = opened;
    if (era === "legacy") {
      const [first, second] = server.received;
      expect(first).toMatchObject({ method: "initialize", params: { protocolVersion: revision } });
      expect(second).toEqual({ jsonrpc: "2.0", method: "notifications/initialized" });
      expect(responsesOf(opened).map(({ id }) => id)).toHaveLength(3);
    } else {
      // Servers may not send requests here, so the client answers none.
      expect(responsesOf(opened)).toEqual([]);
      expect(ignored).toHaveLength(3);
      for (const { params } of server.received.filter(isRequest))
        expect(params).toMatchObject({ _meta: { [metaKeys.protocolVersion]: revision } });
    }
  });

  test("takes only JSON-RPC 2.0 for a response, and only one with the id of the request [BASE-JSONRPC-2, BASE-RESP-ID-ECHO]", async () => {
    const { server, client, ignored } = await open(revision);
    server.on("tools/call", ({ id }, end) => {
      end.send({ id, result: said("without a version") });
      end.send({ jsonrpc: "1.0", id, result: said("of another version") });
      end.send({ jsonrpc: "2.0", id: String(id), result: said("to a text") });
      end.send({ jsonrpc: "2.0", id: null, result: said("to nothing") });
      return said("right");
    });
    expect(await client.callTool("a")).toMatchObject({ content: [{ text: "right" }] });
    expect(ignored).toHaveLength(4);
  });

  test("never answers a notification, known or not, nor one with parameters that are wrong [BASE-NOTIF-NO-REPLY]", async () => {
    const { server, client } = await open(revision, { roots: [], onLog: () => {} });
    const before = server.received.length;
    const known = ["message", "progress", "cancelled", "tools/list_changed", "resources/updated", "no_such"];
    for (const name of known) {
      server.end.notify(`notifications/${name}`);
      server.end.notify(`notifications/${name}`, { level: 7, progressToken: {}, requestId: null });
      server.end.send({ jsonrpc: "2.0", method: `notifications/${name}`, params: [1] });
    }
    server.end.notify("ping");
    server.end.notify("roots/list", {});
    await client.callTool("fence");
    await nextTurn();
    expect(server.received.slice(before).map(({ method }) => method)).toEqual(["tools/call"]);
  });

  test("answers no request whose id cannot be read: it has no id to answer with [BASE-ERR-ID-UNREADABLE]", async () => {
    const opened = await open(revision, { roots: [] });
    const { server, client, ignored } = opened;
    const ids = [null, {}, [1], true, 1.5, 2 ** 53];
    for (const id of ids) server.end.send({ jsonrpc: "2.0", id, method: "roots/list" });
    server.end.send('{"jsonrpc":"2.0","id":1,"method":"roots/list"');
    await client.callTool("fence");
    expect(responsesOf(opened)).toEqual([]);
    expect(ignored).toHaveLength(ids.length + 1);
  });

  test("takes an error without an id for the response to the only request that waits [BASE-ERR-ID-UNREADABLE]", async () => {
    const { server, client } = await open(revision);
    const error = { code: -32700, message: "Unreadable" };
    for (const id of [undefined, null]) {
      server.on("tools/call", (_, end) => end.send({ jsonrpc: "2.0", id, error }));
      await expect(client.callTool("a")).rejects.toMatchObject(error);
    }
  });

  test("gives the codes that MCP leaves to others no meaning: each is the outcome of its call [BASE-ERR-LEGACY-RANGE-MEANING]", async () => {
    const { server, client } = await open(revision);
    for (let code = -32019; code <= -32000; code++) {
      server.on("tools/call", () => {
        throw new Refuse(code, `Error ${code}`, { why: code });
      });
      const outcome = await client.callTool("a").catch((reason: unknown) => reason);
      expect(outcome).toBeInstanceOf(RpcRejection);
      expect(outcome).toMatchObject({ code, message: `Error ${code}`, data: { why: code } });
    }
    expect(server.of("tools/call")).toHaveLength(20);
    expect(server.ends).toHaveLength(1);
    expect(client.state.name).toBe("ready");
  });

  test("reports no progress of its answers, neither before nor after them [PROG-INCREASE, PROG-STOP]", async () => {
    const opened = await open(revision, { roots: () => nextTurn().then(() => []) });
    const { server, client } = opened;
    const params = { _meta: { progressToken: "t" } };
    for (const id of [1, 2]) server.end.send({ jsonrpc: "2.0", id, method: "roots/list", params });
    await until(() => era === "modern" || responsesOf(opened).length === 2);
    await client.callTool("fence");
    expect(server.of("notifications/progress")).toEqual([]);
  });
});

/** Questions that fail, each in its own way. */
const form = (extra: object = {}): object => ({
  message: "Sure?",
  requestedSchema: { type: "object", properties: {} },
  ...extra,
});
const failing: readonly { readonly method: string; readonly params?: unknown }[] = [
  { method: "no/such" },
  { method: "tasks/get", params: { taskId: "1" } },
  { method: "tasks/list" },
  { method: "sampling/createMessage", params: form() },
  { method: "elicitation/create", params: {} },
  { method: "elicitation/create", params: form() },
  { method: "roots/list" },
];
const foreign = new RpcRejection({ code: -32042, message: "Of another server" });
const thrown = [foreign, Object.assign(new Error("x"), { code: -32002, rpcCode: -32050 }), "text", undefined];
const isAllowed = (code: unknown): boolean => [-32600, -32601, -32602, -32603].includes(code as number);

describe("a question that fails", () => {
  const throwing = (value: unknown): ConnectOptions => {
    const fail = (): never => {
      throw value;
    };
    return { roots: fail, onElicit: fail };
  };

  test.each(legacyDates)(
    "on %s gets an error with its own id, an integer code of JSON-RPC and a text [BASE-ERR-SHAPE, BASE-RESP-ID-ECHO]",
    async (revision) => {
      for (const value of thrown) {
        const opened = await open(revision, throwing(value));
        const { server } = opened;
        const ids = failing.map((_, index) => (index % 2 === 0 ? index : String(index)));
        ids.forEach((id, index) => server.end.send({ jsonrpc: "2.0", id, ...failing[index] }));
        await until(() => responsesOf(opened).length === failing.length);
        const responses = new Map(responsesOf(opened).map((response) => [response.id, response]));
        for (const id of ids) {
          const { error } = responses.get(id) as { error: { code: unknown; message: unknown } };
          expect(isAllowed(error.code)).toBe(true);
          expect(typeof error.message).toBe("string");
          expect(error.message).not.toBe("");
        }
      }
    },
  );

  test("on a modern revision gets no error at all, of whatever code [BASE-ERR-STANDARD-CODES, BASE-ERR-LEGACY-RANGE-NEW, BASE-ERR-MCP-RANGE-UNDEFINED, BASE-ERR-MCP-RANGE-MEANING, BASE-ERR-32002-NOT-EMIT, BASE-ERR-32042-NOT-EMIT, BASE-ERR-SHAPE]", async () => {
    for (const value of thrown) {
      const { server, client, frames } = await open(newestModern, throwing(value));
      failing.forEach((question, id) => server.end.send({ jsonrpc: "2.0", id: `q${id}`, ...question }));
      for (const { method, params } of failing) {
        const inputRequests = { one: { method, params } };
        server.on("tools/call", () => ({ resultType: "input_required", inputRequests }));
        // The call fails here; the server learns nothing of it.
        expect(
          await client.callTool("ask").then(
            () => "resolved",
            () => "rejected",
          ),
        ).toBe("rejected");
      }
      expect(server.of("tools/call")).toHaveLength(failing.length);
      for (const frame of frames) expect(frame).not.toMatch(/"error":|-320\d\d/);
    }
  });
});

describe.each(protocolRevisions)("log messages on $date", ({ date: revision, era }) => {
  const levels = "debug info notice warning error critical alert emergency".split(" ");

  test("have the eight levels of the protocol, both ways, and no others [LOG-LEVELS]", async () => {
    const seen: unknown[] = [];
    const opened = await open(revision, { onLog: ({ level }) => seen.push(level) });
    const { server, client } = opened;
    server.on("logging/setLevel", () => ({}));
    for (const level of levels) {
      await client.setLogLevel(level as "info");
      await client.callTool("a");
      server.end.notify("notifications/message", { level, data: "x" });
    }
    for (const level of ["trace", "Error", "", "fatal"]) {
      await expect(client.setLogLevel(level as "info")).rejects.toThrow(/logLevel must be "debug", "info"/);
      server.end.notify("notifications/message", { level, data: "x" });
    }
    await client.callTool("fence");
    expect(seen).toEqual(levels);
    const told =
      era === "legacy"
        ? server.given("logging/setLevel", "level")
        : server.of("tools/call").map((call) => metaOf(call)[metaKeys.logLevel]);
    expect(told.slice(0, levels.length)).toEqual(levels);
  });
});

test("a modern client continues after a call that it cannot send", async () => {
  const { server, client } = await open(newestModern);
  const gate = deferred();
  server.on("tools/call", async () => (await gate.promise, said("done")));
  const call = client.callTool("a");
  await expect(client.request("work", { _meta: { "bad key": 1 } })).rejects.toThrow(RangeError);
  gate.resolve();
  await expect(call).resolves.toMatchObject({ content: [{ text: "done" }] });
});
