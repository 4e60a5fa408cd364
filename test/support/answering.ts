// A client that answers: requests of the server on a legacy revision, questions in place of the result on a modern one.
import type { ClientCapabilities, JsonObject } from "halyard";
import {
  type Respond,
  type Question,
  questionsIn,
  type Received,
  retryOf,
  type TestClient,
} from "halyard/testing";

export interface Talk {
  readonly result: JsonObject;
  readonly asked: readonly Question[];
  /** How many results were questions. */
  readonly rounds: number;
  /** What was added to the call in each round after the first. */
  readonly retries: readonly JsonObject[];
}

/** A client that can do everything that any revision has. */
export const ableClient: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};

/** Sends a request and answers what it asks until its result is there. */
export function converse(
  client: TestClient,
  method: string,
  params: JsonObject,
  answer: Respond,
): Promise<Talk> {
  return client.era === "modern"
    ? conversePerRound(client, method, params, answer)
    : conversePerRequest(client, method, params, answer);
}

async function conversePerRound(
  client: TestClient,
  method: string,
  params: JsonObject,
  answer: Respond,
): Promise<Talk> {
  const asked: Question[] = [];
  const retries: JsonObject[] = [];
  let result = await client.request(method, params);
  while (result["resultType"] === "input_required") {
    asked.push(...questionsIn(result));
    const retry = retryOf(result, answer);
    retries.push(retry);
    result = await client.request(method, { ...params, ...retry });
  }
  return { result, asked, rounds: retries.length, retries };
}

/** A request of the server. */
export interface AskedRequest {
  readonly id: string;
  readonly method: string;
  readonly params?: JsonObject;
}

/** The next request of the server that is not among those that were seen, which it then is; undefined if `isOver` comes first. */
export async function nextRequest(
  client: TestClient,
  seen: Set<unknown>,
  isOver: (message: Received) => boolean = () => false,
): Promise<AskedRequest | undefined> {
  const isNew = (message: Received): boolean =>
    "method" in message && "id" in message && !seen.has(message.id);
  const message = await client.waitFor((one) => isNew(one) || isOver(one));
  if (!isNew(message)) return undefined;
  const request = message as unknown as AskedRequest;
  seen.add(request.id);
  return request;
}

let talks = 0;

async function conversePerRequest(
  client: TestClient,
  method: string,
  params: JsonObject,
  answer: Respond,
): Promise<Talk> {
  const id = `talk-${++talks}`;
  const asked: Question[] = [];
  const seen = new Set<unknown>();
  const running = client.request(method, params, { id });
  running.catch(() => {});
  for (;;) {
    const request = await nextRequest(client, seen, (one) => isAnswerTo(id, one));
    if (request === undefined) return { result: await running, asked, rounds: 0, retries: [] };
    const question = { key: "", method: request.method, params: request.params ?? {} };
    asked.push(question);
    const result = answer(question);
    if (result !== undefined) client.send({ jsonrpc: "2.0", id: request.id, result });
  }
}

function isAnswerTo(id: string, message: Received): boolean {
  return "id" in message && message.id === id && !("method" in message);
}

/** An answer by the message of the question: the content of the form, or any other result as it is. */
export function answersBy(answers: Readonly<Record<string, JsonObject>>): Respond {
  return ({ method, params }) => {
    const given = answers[method === "elicitation/create" ? String(params["message"]) : method];
    if (given === undefined) throw new Error(`Nobody expected ${method} ${JSON.stringify(params)}`);
    const isResult = method !== "elicitation/create" || given["action"] !== undefined;
    return isResult ? given : { action: "accept", content: given };
  };
}

/** An answer of the client's model. */
export function spoken(text: string): JsonObject {
  return {
    role: "assistant",
    content: { type: "text", text },
    model: "test-model",
    stopReason: "endTurn",
  };
}
