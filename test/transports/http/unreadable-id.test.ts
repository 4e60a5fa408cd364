// An error for a body that cannot be read has the id that the revision of its client wants: null, or none.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { send } from "../../support/event-reply.ts";
import { SseClient } from "../../support/legacy-sse.ts";
import { legacyDates, modernDates } from "../../support/raw.ts";
import { edges, serve, SessionClient } from "../../support/sessions.ts";

const newer = new Set(["2025-11-25", "2026-07-28"]);
const make = (): McpServer => new McpServer({ name: "test", version: "1.0.0" }, { limits: { maxDepth: 6 } });
const broken: [string, string, number][] = [
  ["no JSON", '{"jsonrpc":', -32700],
  ["too deep", `${"[".repeat(9)}${"]".repeat(9)}`, -32600],
  ["no message", "5", -32600],
];

function expectId(answer: object, revision: string): void {
  if (newer.has(revision)) expect(answer).not.toHaveProperty("id");
  else expect(answer).toHaveProperty("id", null);
}

describe.each(edges)("an unreadable body · %s", (edge) => {
  const post = async (
    url: string,
    headers: Record<string, string | undefined>,
    body: string,
  ): Promise<object> => {
    const accept = "application/json, text/event-stream";
    const all = { "content-type": "application/json", accept, ...headers };
    const reply = await send(url, { headers: all, body });
    expect(reply.status).toBe(400);
    return reply.json();
  };

  describe.each(legacyDates)("in a session of %s", (revision) => {
    test.each(broken)("that is %s [BASE-ERR-ID-UNREADABLE]", async (_, body, code) => {
      const served = await serve(make(), {}, edge);
      const client = await SessionClient.open(served, { revision });
      for (const version of [revision, undefined]) {
        const headers = client.headers({ "mcp-protocol-version": version });
        const answer = await post(served.url, headers, body);
        expect(answer).toMatchObject({ error: { code } });
        expectId(answer, revision);
      }
    });
  });

  test.each([...legacyDates, ...modernDates])("of a client that says it speaks %s", async (revision) => {
    const { url } = await serve(make(), {}, edge);
    expectId(await post(url, { "mcp-protocol-version": revision }, "{"), revision);
  });

  test("of a client that says nothing has no id", async () => {
    const { url } = await serve(make(), {}, edge);
    expect(await post(url, {}, "{")).not.toHaveProperty("id");
  });
});

test("over HTTP+SSE, the error has the id null", async () => {
  const client = await SseClient.open(await serve(make(), { legacySse: true }));
  expect(await client.sayText("{")).toBe(202);
  const answer = await client.stream.message((message) => message["error"] !== undefined);
  expect(answer).toMatchObject({ id: null, error: { code: -32700 } });
});
