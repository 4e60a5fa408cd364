// The wire in memory: how a client of the same process reaches a server.
import { McpServer } from "halyard";
import { expect, onTestFinished, test, vi } from "vitest";
import { initializeRequest, modernRequest, newestLegacy } from "../support/raw.ts";
import { deferred, nextTurn, until } from "../support/turns.ts";

/** A wire to the server, and the ids and methods of the messages that arrived on it. */
function open(server: McpServer) {
  const wire = server.openWire();
  const arrived: unknown[] = [];
  const reasons: string[] = [];
  wire.onMessage = (text) => {
    const { id, method } = JSON.parse(text) as { id?: number; method?: string };
    arrived.push(method ?? id);
  };
  wire.onClose = ({ message }) => reasons.push(message);
  return { wire, arrived, reasons };
}

function newServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.tool("hello", {}, () => "Hello");
  return server;
}

function callText(id: number, name: string): string {
  return JSON.stringify(modernRequest(id, "tools/call", { name }));
}

test("openWire delivers messages in order and never inside send, even if the handler sends one at once", async () => {
  const server = newServer();
  server.tool("tell", {}, (_, ctx) => {
    void ctx.notify("acme/told", {});
    return "Told";
  });
  const { wire, arrived } = open(server);
  void wire.send(callText(1, "tell"));
  expect(arrived).toEqual([]);
  await until(() => arrived.length === 2);
  expect(arrived).toEqual(["acme/told", 1]);
  await wire.close();
});

test("openWire makes each wire a client of its own, which gets pushes", async () => {
  const server = newServer();
  const [legacy, other] = [open(server), open(server)];
  void legacy.wire.send(JSON.stringify(initializeRequest(0, newestLegacy)));
  await until(() => legacy.arrived.length === 1);
  void legacy.wire.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  server.tool("another", {}, () => "Another");
  await until(() => legacy.arrived.length === 2);
  expect(legacy.arrived).toEqual([0, "notifications/tools/list_changed"]);
  expect(other.arrived).toEqual([]);
  await Promise.all([legacy.wire.close(), other.wire.close()]);
});

test("openWire connects the user of this process, who may use definitions with scopes", async () => {
  const server = newServer();
  server.tool("write", { scopes: ["notes:write"] }, () => "Noted");
  const wire = server.openWire();
  const texts: string[] = [];
  wire.onMessage = (text) => texts.push(text);
  void wire.send(callText(1, "write"));
  await until(() => texts.length === 1);
  expect(texts[0]).toContain("Noted");
  await wire.close();
});

test("close of a wire lets a running call finish, then calls onClose once, and send throws", async () => {
  const server = newServer();
  const gate = deferred<string>();
  server.tool("slow", {}, () => gate.promise);
  const { wire, arrived, reasons } = open(server);
  void wire.send(callText(1, "slow"));
  const closed = Promise.all([wire.close(), wire.close()]);
  expect(() => wire.send(callText(2, "hello"))).toThrow("The wire is closed");
  await nextTurn();
  expect(reasons).toEqual([]);
  gate.resolve("Done");
  await closed;
  expect(arrived).toEqual([1]);
  expect(reasons).toEqual(["The client closed the wire"]);
});

test("close of a wire cancels a call that does not finish in time, and nothing arrives after onClose", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = newServer();
  const [gate, ended] = [deferred(), deferred()];
  server.tool("endless", {}, async (_, ctx) => {
    await gate.promise;
    expect(ctx.signal.aborted).toBe(true);
    await ctx.notify("acme/late", {});
    ended.resolve();
    return "Late";
  });
  const { wire, arrived, reasons } = open(server);
  void wire.send(callText(1, "endless"));
  const closed = wire.close();
  await vi.advanceTimersByTimeAsync(1000);
  await closed;
  expect(reasons).toHaveLength(1);
  gate.resolve();
  await ended.promise;
  await nextTurn();
  expect(arrived).toEqual([]);
});
