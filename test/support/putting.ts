// Puts questions to a client the way its revision has them: as requests of a legacy server, or in a round of a modern one.
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import { protocolRevisions } from "halyard/testing";
import { onTestFinished } from "vitest";
import { newestModern } from "./revisions.ts";
import { said, ScriptedServer, type Sent } from "./scripted-wire.ts";
import { until } from "./turns.ts";

export interface Put {
  readonly method: string;
  readonly params?: object;
}

/** What a client makes of a question: the result; or the error that it sends, or that its call rejects with. */
export type Outcome =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: { readonly code?: unknown; readonly message: string } };

/** The revisions from `since` on, oldest first. */
export function revisionsSince(since = ""): string[] {
  return protocolRevisions
    .map(({ date }) => date)
    .filter((date) => date >= since)
    .toReversed();
}

/** A client of that revision, its server, and how to put questions to it. */
export async function openPut(
  revision: string,
  options: ConnectOptions,
): Promise<{
  readonly client: McpClient;
  readonly server: ScriptedServer;
  readonly put: (question: Put) => Promise<Outcome>;
}> {
  const server = new ScriptedServer({ revision, capabilities: { tools: {} } });
  const client = await connect(server, { revision, ...options });
  onTestFinished(() => client.close());
  const put = revision === newestModern ? putInRound : putAsRequest;
  return { client, server, put: (question) => put(server, client, question) };
}

/** Puts one question to a client that has these handlers. */
export async function putTo(revision: string, options: ConnectOptions, question: Put): Promise<Outcome> {
  const { put } = await openPut(revision, options);
  return put(question);
}

async function putInRound(server: ScriptedServer, client: McpClient, question: Put): Promise<Outcome> {
  let given: unknown;
  server.on("tools/call", ({ params }) => {
    given = (params?.["inputResponses"] as { q?: unknown } | undefined)?.q;
    return given === undefined
      ? { resultType: "input_required", inputRequests: { q: question } }
      : said("ok");
  });
  try {
    await client.callTool("ask");
    return { result: given as Readonly<Record<string, unknown>> };
  } catch (error) {
    return { error: error as Error };
  }
}

let lastId = 0;

async function putAsRequest(server: ScriptedServer, _client: McpClient, question: Put): Promise<Outcome> {
  const id = `question-${++lastId}`;
  server.end.send({ jsonrpc: "2.0", id, ...question });
  const isAnswer = (message: Sent): boolean => message.id === id && message.method === undefined;
  await until(() => server.received.some(isAnswer));
  return server.received.find(isAnswer) as unknown as Outcome;
}
