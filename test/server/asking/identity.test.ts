// Only the user who was asked can answer a question.
import { type JsonObject, McpServer } from "halyard";
import { Connection } from "halyard/transport";
import { questionsIn, retryOf } from "halyard/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ableClient } from "../../support/answering.ts";
import { echo, said } from "../../support/asking-tool.ts";
import { recordingLogger } from "../../support/log.ts";
import { metaKeys, newestModern, RawPeer } from "../../support/raw.ts";
import { serve, SessionClient } from "../../support/sessions.ts";

const text = z.object({ text: z.string() });

function askingServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("ask", {}, async (_, ctx) => (await ctx.elicit("A", text)).text);
  return server;
}

describe("a state of a modern call", () => {
  const peer = (server: McpServer, subject?: string): RawPeer => {
    const principal = subject === undefined ? undefined : { issuer: "https://issuer.example", subject };
    return new RawPeer(server, newestModern, new Connection({ transport: "raw", principal }));
  };
  const ask = async (from: RawPeer, more: JsonObject = {}, meta: JsonObject = {}): Promise<JsonObject> => {
    const _meta = { [metaKeys.clientCapabilities]: ableClient, ...meta };
    const { result, error } = await from.request("tools/call", { name: "ask", ...more, _meta });
    return result ?? { error };
  };
  const refused = { error: { code: -32602, message: "Invalid or expired requestState" } };

  test("opens for the user it was made for, on any connection, and for no other caller [ELIC-BIND-USER, ELIC-STATE-USER, MRTR-STATE-UNTRUSTED, MRTR-STATE-BINDING]", async () => {
    const server = askingServer();
    const first = await ask(peer(server, "alice"));
    expect(questionsIn(first)).toHaveLength(1);
    const retry = retryOf(first, echo);
    expect(await ask(peer(server, "bob"), retry)).toEqual(refused);
    expect(await ask(peer(server), retry)).toEqual(refused);
    expect(said(await ask(peer(server, "alice"), retry))).toBe("a");
  });

  test("does not open for a caller who only claims to be that user [ELIC-IDENTITY-VERIFY]", async () => {
    const server = askingServer();
    const retry = retryOf(await ask(peer(server, "alice")), echo);
    const claims = { [metaKeys.clientInfo]: { name: "alice", version: "1" }, user: "alice", sub: "alice" };
    expect(await ask(peer(server, "bob"), { ...retry, user: "alice", sub: "alice" }, claims)).toEqual(
      refused,
    );
  });

  test("does not open when it was changed, however little [MRTR-STATE-INTEGRITY, MRTR-STATE-UNTRUSTED]", async () => {
    const server = askingServer();
    const retry = retryOf(await ask(peer(server)), echo);
    const state = String(retry["requestState"]);
    const at = state.length - 30;
    const changed = `${state.slice(0, at)}${state[at] === "A" ? "B" : "A"}${state.slice(at + 1)}`;
    expect(await ask(peer(server), { ...retry, requestState: changed })).toEqual(refused);
  });

  test("opens once where the author says so [MRTR-STATE-ONCE]", async () => {
    const server = askingServer().secureRequestState({ singleUse: true });
    const retry = retryOf(await ask(peer(server)), echo);
    expect(said(await ask(peer(server), retry))).toBe("a");
    expect(await ask(peer(server), retry)).toEqual(refused);
  });
});

test("a question to a session is not answered by another user who knows the session and the question [ELIC-BIND-USER, ELIC-STATE-NOT-SESSION]", async () => {
  const server = askingServer();
  const served = await serve(server, {
    auth: (request) => ({
      issuer: "https://issuer.example",
      subject: request.header("x-user") ?? "",
    }),
  });
  const options = { capabilities: { elicitation: {} } };
  const alice = await SessionClient.open(served, { ...options, headers: { "x-user": "alice" } });
  const call = await alice.call("ask");
  const question = await call.message(({ method, id }) => method !== undefined && id !== undefined);
  const bob = new SessionClient(served.url, alice.id, { headers: { "x-user": "bob" } });
  const stolen = { result: { action: "accept", content: { text: "stolen" } } };
  expect(await bob.answer(question, stolen)).toBe(404);
  expect(await server.push.pendingAsks()).toBe(1);
  await alice.answer(question, { result: { action: "accept", content: { text: "mine" } } });
  await call.closed;
  expect(said(call.messages.at(-1)?.["result"] as JsonObject)).toBe("mine");
});
