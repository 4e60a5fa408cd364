// Many clients get questions at the same time under the same ids: each answer reaches its own question.
import { McpServer } from "halyard";
import type { TestClient } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { recordingLogger } from "../support/log.ts";
import { describeMatrix } from "../support/matrix.ts";
import { edges, serve, SessionClient } from "../support/sessions.ts";
import { nextTurn } from "../support/turns.ts";

const capabilities = { sampling: {} };

function askingServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger: recordingLogger() });
  server.tool("ask", {}, async (_, ctx) => {
    const first = await ctx.sample("Who are you?");
    const [second, third] = await Promise.all([ctx.sample("Really?"), ctx.sample("Sure?")]);
    return [first.text, second.text, third.text].join();
  });
  return server;
}

const isQuestion = (message: object): message is { id: string } =>
  "method" in message && message.method === "sampling/createMessage";

const sampled = (text: string): { result: object } => ({
  result: { role: "assistant", model: "m", content: { type: "text", text } },
});

/** Has the client answer everything it is asked with its name, as often as it is asked. */
function answerAs(client: TestClient, name: string): void {
  let answered = 0;
  const look = async (): Promise<void> => {
    while (answered < 3) {
      await nextTurn();
      const questions = client.received.filter(isQuestion as (message: object) => boolean);
      for (const question of questions.slice(answered) as unknown as { id: string }[]) {
        answered++;
        client.send({ jsonrpc: "2.0", id: question.id, ...sampled(name) });
      }
    }
  };
  void look();
}

describeMatrix("clients with the same request ids", { eras: ["legacy"] }, (cell) => {
  test("are each answered with their own answers [BASE-RESP-ID-ECHO]", async () => {
    const server = askingServer();
    const names = ["one", "two", "three"];
    const clients = await Promise.all(names.map(() => cell.connect(server, { capabilities })));
    const calls = clients.map((client) => client.request("tools/call", { name: "ask" }, { id: 7 }));
    for (const [at, client] of clients.entries()) answerAs(client, names[at] ?? "");
    const texts = (await Promise.all(calls)).map(({ content }) => (content as { text: string }[])[0]?.text);
    expect(texts).toEqual(names.map((name) => [name, name, name].join()));
    expect(await server.push.pendingAsks()).toBe(0);
    for (const client of clients) await client.close();
  });

  test("cannot answer what another was asked, or fail it", async () => {
    const server = askingServer();
    const [asked, stranger] = [
      await cell.connect(server, { capabilities }),
      await cell.connect(server, { capabilities }),
    ];
    const call = asked.request("tools/call", { name: "ask" }, { id: 7 });
    const { id } = (await asked.waitFor(isQuestion)) as unknown as { id: string };
    stranger.send({ jsonrpc: "2.0", id, ...sampled("stolen") });
    stranger.send({ jsonrpc: "2.0", id, error: { code: 1, message: "stolen" } });
    stranger.notify("notifications/cancelled", { requestId: 7 });
    stranger.notify("notifications/cancelled", { requestId: id });
    await stranger.request("ping");
    expect(await server.push.pendingAsks()).toBe(1);
    answerAs(asked, "own");
    expect(await call).toMatchObject({ content: [{ text: "own,own,own" }] });
    for (const client of [asked, stranger]) await client.close();
  });
});

describe.each(edges)("60 sessions over sockets · %s", (edge) => {
  test("each asked three times under the same ids, answer for themselves", async () => {
    const server = askingServer();
    const served = await serve(server, {}, edge);
    const outcomes = Array.from({ length: 60 }, async (_, at) => {
      const client = await SessionClient.open(served, { capabilities });
      const call = await client.start("tools/call", { name: "ask" }, 7);
      for (const count of [1, 3]) {
        await call.message(() => call.messages.filter(isQuestion).length === count);
        for (const question of call.messages.filter(isQuestion).slice(count === 1 ? 0 : 1)) {
          await client.answer(question as never, sampled(`client ${at}`) as never);
        }
      }
      return call.message((message) => message["id"] === 7 && "result" in message);
    });
    for (const [at, outcome] of (await Promise.all(outcomes)).entries()) {
      const name = `client ${at}`;
      expect(outcome).toMatchObject({ result: { content: [{ text: [name, name, name].join() }] } });
    }
    expect(await server.push.pendingAsks()).toBe(0);
  });
});
