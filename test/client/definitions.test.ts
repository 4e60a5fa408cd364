// When a client lists tools by itself, and what it believes of their hints.
import { connect, ConnectionLost, type ConnectOptions } from "halyard/client";
import { describe, expect, test } from "vitest";
import { newestLegacy, newestModern } from "../support/revisions.ts";
import { said, ScriptedServer } from "../support/scripted-wire.ts";

/** A server that is cut off while it runs its tool for the first time. */
function breaking(annotations: unknown, revision: string): ScriptedServer {
  const server = new ScriptedServer({ revision });
  const tool = { name: "t", inputSchema: { type: "object" }, annotations };
  server.on("tools/list", () => ({ tools: [tool] }));
  server.on("tools/call", (_, end) => (server.of("tools/call").length > 1 ? said("done") : end.cut()));
  return server;
}

async function callBroken(
  annotations: unknown,
  options: ConnectOptions,
): Promise<[outcome: unknown, sent: number]> {
  const { revision = newestModern } = options;
  const server = breaking(annotations, revision);
  const client = await connect(server, { ...options, revision, backoff: { firstMs: 1 } });
  const outcome: unknown = await client.callTool("t").catch((error: unknown) => error);
  await client.close();
  return [outcome, server.of("tools/call").length];
}

describe.each([newestModern, newestLegacy])("on %s", (revision) => {
  test.each([{ readOnlyHint: true }, { idempotentHint: true, destructiveHint: true }])(
    "a lost call is sent again if the tool has %j, which the client lists for it",
    async (hints) => {
      const [outcome, sent] = await callBroken(hints, { revision });
      expect(outcome).toMatchObject({ content: [{ text: "done" }] });
      expect(sent).toBe(2);
    },
  );

  test.each([
    undefined,
    null,
    "readOnlyHint",
    { readOnlyHint: "true" },
    { readOnlyHint: false, idempotentHint: 1 },
  ])("a lost call is not sent again if the tool has the annotations %j", async (hints) => {
    const [outcome, sent] = await callBroken(hints, { revision });
    expect(outcome).toBeInstanceOf(ConnectionLost);
    expect(outcome).toMatchObject({ mayHaveRun: true });
    expect(sent).toBe(1);
  });

  test("reissue decides whether hints are trusted [TOOL-ANNOTATIONS-UNTRUSTED]", async () => {
    const [never, once] = await callBroken({ readOnlyHint: true }, { revision, reissue: "never" });
    expect(never).toBeInstanceOf(ConnectionLost);
    expect(once).toBe(1);
    const [, twice] = await callBroken({ readOnlyHint: false }, { revision, reissue: "always" });
    expect(twice).toBe(2);
  });

  test("a call without headers or structured content lists nothing", async () => {
    const server = breaking({}, revision);
    server.on("tools/call", () => ({ content: [] }));
    const client = await connect(server, { revision });
    await client.callTool("t");
    expect(server.of("tools/list")).toEqual([]);
    await client.close();
  });
});
