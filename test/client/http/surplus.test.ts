// A server, or a gateway before it, that sends one reply too many: it costs one connection, and at most one call, which may have run.
import { type AddressInfo, createServer, type Socket } from "node:net";
import { connect, ConnectionLost, type McpClient } from "halyard/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { newestModern } from "../../support/revisions.ts";
import { deferred, until } from "../../support/turns.ts";

interface Message {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly arguments?: { readonly key?: string } };
}

/** A reply with a JSON body. */
function reply(body: object | undefined, status = "200 OK"): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

function resultOf({ id, method, params }: Message): object {
  const complete = { resultType: "complete" };
  if (method === "server/discover")
    return {
      jsonrpc: "2.0",
      id,
      result: { ...complete, supportedVersions: [newestModern], capabilities: {} },
    };
  if (method === "tools/list") return { jsonrpc: "2.0", id, result: { ...complete, tools: [] } };
  const content = [{ type: "text", text: params.arguments?.key }];
  return { jsonrpc: "2.0", id, result: { ...complete, content } };
}

class SurplusServer {
  readonly runs = new Map<string, number>();
  /** The connections that are open. */
  readonly sockets = new Set<Socket>();
  accepted = 0;
  /** What to do with a call of a tool, instead of a reply. */
  onCall: ((message: Message, socket: Socket) => void) | undefined;
  readonly #server = createServer((socket) => {
    this.accepted++;
    this.sockets.add(socket);
    let waiting = "";
    socket.on("error", () => {}).on("close", () => this.sockets.delete(socket));
    socket.on("data", (piece) => {
      waiting += String(piece);
      const [head = "", body] = waiting.split("\r\n\r\n", 2);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      waiting = "";
      this.#take(JSON.parse(body) as Message, socket);
    });
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }

  #take(message: Message, socket: Socket): void {
    const { key } = message.params.arguments ?? {};
    if (key !== undefined) this.runs.set(key, (this.runs.get(key) ?? 0) + 1);
    if (message.method === "tools/call" && this.onCall) this.onCall(message, socket);
    else socket.write(reply(resultOf(message)));
  }
}

async function started(fetch?: typeof globalThis.fetch): Promise<[SurplusServer, McpClient]> {
  const server = new SurplusServer();
  const client = await connect(await server.open(), { cache: false, ...(fetch && { fetch }) });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  await client.callTool("pay");
  return [server, client];
}

/** Calls one after the other, and returns the failures. */
async function callAll(client: McpClient, count: number): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (let number = 0; number < count; number++) {
    const key = `call ${number}`;
    try {
      expect(await client.callTool("pay", { key })).toMatchObject({ content: [{ text: key }] });
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
}

const earlier = resultOf({ id: 1, method: "tools/call", params: {} });

describe.each([
  ["the reply to an earlier request, once more", reply(earlier)],
  ["a reply to a notification", reply(undefined, "202 Accepted")],
])("%s", (_, surplus) => {
  test("fails one of a hundred calls, which may have run, and no call runs twice", async () => {
    const [server, client] = await started();
    let hasSent = false;
    server.onCall = (message, socket) => {
      if (!hasSent) socket.write(surplus);
      hasSent = true;
      // Later than the client needs to send the next call.
      setTimeout(() => socket.write(reply(resultOf(message))), 2);
    };
    const failures = await callAll(client, 100);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toBeInstanceOf(ConnectionLost);
    expect(failures[0]).toMatchObject({ reason: "cut", mayHaveRun: true });
    expect(Math.max(...server.runs.values())).toBe(1);
    expect(server.accepted).toBe(2);
  });

  test("fails nothing if it arrives while the connection is idle: the next call has another one", async () => {
    const [server, client] = await started();
    const [socket] = server.sockets;
    socket?.write(surplus);
    await until(() => server.sockets.size === 0);
    expect(await callAll(client, 10)).toEqual([]);
    expect(server.accepted).toBe(2);
  });

  test("fails one of the calls that run at once, and none on another connection", async () => {
    const [server, client] = await started();
    const all = deferred();
    const waiting: (() => void)[] = [];
    server.onCall = (message, socket) => {
      if (waiting.length === 0) socket.write(surplus);
      waiting.push(() => socket.write(reply(resultOf(message))));
      if (waiting.length === 10) all.resolve();
    };
    const calls = Array.from({ length: 10 }, (__, number) =>
      client.callTool("pay", { key: `call ${number}` }).catch((error: unknown) => error),
    );
    await all.promise;
    for (const answer of waiting) answer();
    const failures = (await Promise.all(calls)).filter((outcome) => outcome instanceof Error);
    expect(failures).toMatchObject([{ reason: "cut", mayHaveRun: true }]);
    expect(Math.max(...server.runs.values())).toBe(1);
  });
});

test("by fetch, whose connections nobody can close, what a surplus reply fails may have run", async () => {
  const [server, client] = await started(globalThis.fetch);
  let hasSent = false;
  server.onCall = (message, socket) => {
    if (!hasSent) socket.write(reply(earlier));
    hasSent = true;
    setTimeout(() => socket.write(reply(resultOf(message))), 2);
  };
  const failures = await callAll(client, 20);
  expect(failures).not.toEqual([]);
  for (const failure of failures) expect(failure).toMatchObject({ reason: "cut", mayHaveRun: true });
  expect(Math.max(...server.runs.values())).toBe(1);
});
