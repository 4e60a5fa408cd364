// The end of a connection aborts every call that still runs on it, and no other.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { SseClient } from "../../support/legacy-sse.ts";
import { PipePeer } from "../../support/pipe.ts";
import { modernDates, newestLegacy, newestModern } from "../../support/raw.ts";
import { edges, serve, SessionClient } from "../../support/sessions.ts";
import { type Deferred, deferred, until } from "../../support/turns.ts";

interface Holding {
  readonly server: McpServer;
  /** The calls of `hold` that have begun, by their names. */
  readonly begun: string[];
  /** Those whose signal has aborted. */
  readonly aborted: string[];
  /** Lets the call of that name finish. */
  readonly finish: (name: string) => void;
}

function holdingServer(): Holding {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const [begun, aborted]: string[][] = [[], []];
  const gates = new Map<string, Deferred<void>>();
  const input = { type: "object", properties: { name: { type: "string" } } } as const;
  server.tool("hold", { input }, async (args, ctx) => {
    const name = String((args as { name?: unknown }).name);
    ctx.signal.addEventListener("abort", () => aborted?.push(name));
    const gate = deferred();
    gates.set(name, gate);
    begun?.push(name);
    await gate.promise;
    return name;
  });
  return { server, begun: begun ?? [], aborted: aborted ?? [], finish: (name) => gates.get(name)?.resolve() };
}

/** A client: how it calls `hold` with an id and a name, and how its connection ends. */
interface Caller {
  call(id: number | string, name: string): Promise<unknown>;
  end(): Promise<unknown>;
}

const params = (name: string): { name: string; arguments: { name: string } } => ({
  name: "hold",
  arguments: { name },
});

async function onPipe(server: McpServer, revision: string): Promise<Caller> {
  const peer = new PipePeer(server, { revision });
  if (!modernDates.includes(revision)) await peer.client.open();
  return {
    call: async (id, name) => peer.start("tools/call", params(name), id),
    end: () => peer.pipe.end(0),
  };
}

const callers: Record<string, (server: McpServer) => Promise<Caller>> = {
  "a pipe of a legacy client": (server) => onPipe(server, newestLegacy),
  "a pipe of a modern client": (server) => onPipe(server, newestModern),
  "a session, by DELETE": async (server) => {
    const client = await SessionClient.open(await serve(server));
    return {
      call: async (id, name) => void client.start("tools/call", params(name), id).catch(() => {}),
      end: () => client.delete(),
    };
  },
  "HTTP+SSE": async (server) => {
    const client = await SseClient.open(await serve(server, { legacySse: true }));
    return {
      call: (id, name) => client.say({ jsonrpc: "2.0", id, method: "tools/call", params: params(name) }),
      end: () => client.stream.vanish(),
    };
  },
};

test.each(Object.entries(callers))("the end of %s aborts every call that runs on it", async (_, open) => {
  const { server, begun, aborted, finish } = holdingServer();
  const [caller, other] = [await open(server), await open(server)];
  await other.call(1, "other");
  const names = ["a", "b", "c", "d"];
  for (const [id, name] of names.entries()) await caller.call(id, name);
  await until(() => begun.length === 5);
  await caller.end();
  await until(() => aborted.length === 4);
  expect(aborted.toSorted()).toEqual(names);
  for (const name of begun) finish(name);
  await other.end();
  expect(aborted).not.toContain("other");
});

describe.each(edges)("calls of a session that share one id · %s", (edge) => {
  test("run each for itself: one ends, and the others abort with the session", async () => {
    const { server, begun, aborted, finish } = holdingServer();
    const served = await serve(server, {}, edge);
    const client = await SessionClient.open(served);
    const names = ["a", "b", "c", "d"];
    const replies = [];
    for (const [at, name] of names.entries()) {
      replies.push(client.request("tools/call", params(name), "same"));
      replies.at(-1)?.catch(() => {});
      await until(() => begun.length === at + 1);
    }
    // Neither the first of them nor the last.
    finish("b");
    expect(await replies[1]).toMatchObject({ id: "same", result: { content: [{ text: "b" }] } });
    expect(aborted).toEqual([]);
    expect(await client.delete()).toBe(204);
    await until(() => aborted.length === 3);
    expect(aborted.toSorted()).toEqual(["a", "c", "d"]);
    for (const name of begun) finish(name);
  });
});
