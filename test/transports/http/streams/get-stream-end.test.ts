// GET streams that the server ends because they have been open for long enough.
import { McpServer } from "halyard";
import { type HttpServer, serveHttp, type ServeHttpOptions } from "halyard/node";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../support/turns.ts";

let http: HttpServer | undefined;

afterEach(async () => {
  await http?.close();
});

/** A server, and a session of the revision with it. */
async function open(
  revision: string,
  options: ServeHttpOptions = {},
): Promise<{ server: McpServer; get: (lastEventId?: string) => Promise<GetStream> }> {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const { url } = (http = await serveHttp(server, { port: 0, retryMs: 10, ...options }));
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const response = await fetch(url, { method: "POST", headers, body });
  await response.text();
  const session = response.headers.get("mcp-session-id") ?? "";
  const get = async (lastEventId?: string): Promise<GetStream> => {
    const given = new Headers({ ...headers, "mcp-session-id": session });
    if (lastEventId !== undefined) given.set("last-event-id", lastEventId);
    return new GetStream(await fetch(url, { headers: given }));
  };
  return { server, get };
}

/** What comes on a GET stream. */
class GetStream {
  text = "";
  readonly ended: Promise<void>;

  constructor(response: Response) {
    this.ended = this.#read(response);
  }

  get lastEventId(): string | undefined {
    return [...this.text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1];
  }

  get numbers(): number[] {
    return [...this.text.matchAll(/"data":(\d+)/g)].map(([, number]) => Number(number));
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) this.text += decoder.decode(chunk as Uint8Array);
    } catch {
      // The server was closed.
    }
  }
}

async function pushNumber(server: McpServer, data: number): Promise<void> {
  await server.push.broadcast("notifications/message", { level: "info", data });
}

test("GET with the last event of a stream that has had its time goes on from there [RESUME-REPLAY, HTTP-GET-POLLING]", async () => {
  const { server, get } = await open("2025-11-25", { maxStreamMs: 10 });
  const first = await get();
  await pushNumber(server, 1);
  await first.ended;
  expect(first.numbers).toEqual([1]);
  expect(first.text).toMatch(/\nretry: 10\n\n$/);
  await pushNumber(server, 2);

  const second = await get(first.lastEventId);
  await eventually(() => expect(second.numbers).toEqual([2]));
  await pushNumber(server, 3);
  await eventually(() => expect(second.numbers).toEqual([2, 3]));
});
