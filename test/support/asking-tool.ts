// A server with one tool that asks, and a client in memory that calls it.
import {
  type ClientCapabilities,
  type Context,
  type JsonObject,
  McpServer,
  type ServerOptions,
} from "halyard";
import { type Respond, connect, type Question, type TestClient } from "halyard/testing";
import { onTestFinished } from "vitest";
import { ableClient, converse, type Talk } from "./answering.ts";
import { type LogEntry, recordingLogger } from "./log.ts";
import { newestModern } from "./raw.ts";

export interface AskingTool {
  readonly server: McpServer;
  readonly client: TestClient;
  readonly log: LogEntry[];
  /** Calls the tool, with what a retry adds. */
  readonly ask: (more?: JsonObject) => Promise<JsonObject>;
  /** Calls the tool and answers until its result is there. */
  readonly converse: (answer: Respond) => Promise<Talk>;
}

export interface AskingOptions {
  /** What the client speaks. @default {the newest modern revision} */
  readonly revision?: string;
  /** @default {everything} */
  readonly capabilities?: ClientCapabilities;
  readonly server?: ServerOptions;
  /** Called with the server before the client connects. */
  readonly prepare?: (server: McpServer) => void;
}

type Handler = (args: Record<string, unknown>, ctx: Context) => unknown;

/** A tool `ask` that does what is given, and a client of it that is closed when the test ends. */
export async function askingTool(handler: Handler, options: AskingOptions = {}): Promise<AskingTool> {
  const { revision = newestModern, capabilities = ableClient, prepare } = options;
  const logger = recordingLogger();
  const server = new McpServer({ name: "test", version: "1.0.0" }, { logger, ...options.server });
  server.tool("ask", {}, handler as () => string);
  prepare?.(server);
  const client = await connect(server, { revision, capabilities });
  onTestFinished(() => client.close());
  return {
    server,
    client,
    log: logger.entries,
    ask: (more) => client.request("tools/call", { name: "ask", ...more }),
    converse: (answer) => converse(client, "tools/call", { name: "ask" }, answer),
  };
}

/** The answer to a form with the one field `text`: its message, in small letters. */
export function echo({ params }: Question): JsonObject {
  return { action: "accept", content: { text: String(params["message"]).toLowerCase() } };
}

/** The text of a tool result. */
export function said(result: JsonObject): unknown {
  return (result["content"] as { text?: string }[] | undefined)?.[0]?.text;
}
