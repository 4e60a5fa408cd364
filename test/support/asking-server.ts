// A server that asks, and the rounds of a call to it: over HTTP, and with no transport between.
import {
  inputRequired,
  type JsonObject,
  McpServer,
  type Principal,
  type RequestStateOptions,
  type ServerOptions,
} from "halyard";
import { Connection } from "halyard/transport";
import type { RequestHead } from "halyard/auth";
import { modernPost, openEdge } from "./http.ts";
import { type LogEntry, recordingLogger } from "./log.ts";
import { type Answer, metaKeys, modernRequest, newestModern, RawPeer } from "./raw.ts";

const capabilities = { elicitation: { form: {} } };
export const nameForm = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
} as const;

export interface AskingServer {
  readonly server: McpServer;
  readonly log: LogEntry[];
  /** Why states were refused, as the log has it. */
  readonly reasons: () => unknown[];
  /** How often a handler has come to its end. */
  readonly finished: () => number;
}

/** Tools, prompts and resources named `ask` and `other` that each ask for a name; `keep` gives back the state it kept. */
export function askingServer(state: RequestStateOptions = {}, options: ServerOptions = {}): AskingServer {
  const logger = recordingLogger();
  const server = new McpServer({ name: "asking", version: "1.0.0" }, { logger, ...options });
  let finished = 0;
  const greet = ({ name }: { name?: unknown }): string => {
    finished++;
    return `Hello ${String(name)}`;
  };
  for (const name of ["ask", "other"]) {
    server.tool(name, { input: { type: "object" } }, async (_, ctx) =>
      greet(await ctx.elicit("Who?", nameForm, { key: "who" })),
    );
    server.prompt(name, {}, async (_, ctx) => greet(await ctx.elicit("Who?", nameForm, { key: "who" })));
    server.resource(`note:///${name}`, {}, async (_, ctx) =>
      greet(await ctx.elicit("Who?", nameForm, { key: "who" })),
    );
  }
  server.tool("keep", { input: { type: "object" } }, (args, ctx) => {
    const { state: kept } = args as { state?: unknown };
    if (ctx.inputResponses === undefined) return inputRequired({ requestState: { kept } });
    return JSON.stringify(ctx.requestState<JsonObject>());
  });
  server.secureRequestState(state);
  const reasons = (): unknown[] => logger.entries.map(({ details }) => details?.["reason"]);
  return { server, log: logger.entries, reasons, finished: () => finished };
}

/** One request, and who makes it. */
export interface Turn {
  readonly method: string;
  readonly params: JsonObject;
  readonly user?: Principal | undefined;
}

/** An answer, and the status where there is one. */
export interface Reply extends Answer {
  readonly status?: number;
}

export type Say = (turn: Turn) => Promise<Reply>;

const meta = { [metaKeys.clientCapabilities]: capabilities };

/** The ways to talk to a server; both know who is calling. */
export const ways: Readonly<Record<"http" | "memory", (server: McpServer) => Promise<Say>>> = {
  async http(server) {
    const edge = await openEdge("serveHttp", server, { auth: userOf });
    return async ({ method, params, user }) => {
      const headers = user === undefined ? {} : { "x-user": JSON.stringify(user) };
      const reply = await edge.send(modernPost(modernRequest(1, method, params, meta), headers));
      return { ...(await reply.answer()), status: reply.status };
    };
  },
  async memory(server) {
    return ({ method, params, user }) => {
      const connection = new Connection({ transport: "memory", principal: user });
      return new RawPeer(server, newestModern, connection).request(method, { ...params, _meta: meta });
    };
  },
};

export const wayNames = Object.keys(ways) as (keyof typeof ways)[];

function userOf(request: RequestHead): Principal | undefined {
  const user = request.headers()["x-user"];
  return typeof user === "string" ? (JSON.parse(user) as Principal) : undefined;
}

const answered: JsonObject = {
  inputResponses: { who: { action: "accept", content: { name: "Ada" } } },
};

/** The state that the first round of a call ends with. */
export async function begin(say: Say, turn: Turn): Promise<string> {
  const { result, error } = await say(turn);
  const state = result?.["requestState"];
  if (typeof state !== "string") throw new Error(`No state: ${JSON.stringify(result ?? error)}`);
  return state;
}

/** The same call again, with the answer and a state. */
export function retry(turn: Turn, requestState: unknown): Turn {
  return { ...turn, params: { ...turn.params, ...answered, requestState } };
}
