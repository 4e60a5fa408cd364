// A server in this process, with limits so tight that inputs run into them, behind both HTTP edges.
import { McpServer } from "halyard";
import { fetchHandler } from "halyard/fetch";
import { type HttpOptions, serveHttp } from "halyard/node";
import { recordingLogger } from "../support/log.ts";
import { HttpReply } from "../support/http-reply.ts";
import { modernMeta } from "../support/raw.ts";
import { until } from "../support/turns.ts";
import { httpInput } from "./http-inputs.ts";
import { HttpPeer, overHttp } from "./http-target.ts";
import { type Input, piecesOf } from "./input.ts";
import { messageProblem } from "./judge.ts";
import { hangMs } from "./socket.ts";
import type { Target } from "./target.ts";

const tight: HttpOptions = {
  // A principal, so that scopes are checked.
  auth: () => ({ issuer: "https://issuer.example", subject: "fuzz", scopes: ["read"] }),
  rateLimit: false,
  legacySse: true,
  graceMs: 100,
  keepAliveMs: 1000,
  resumeWindowMs: 100,
  limits: {
    maxSessions: 40,
    idleMs: 1000,
    maxStreams: 30,
    maxStreamBytes: 2000,
    maxTotalBytes: 20_000,
    keepMs: 500,
    maxListens: 20,
  },
};

/** The names are those of the corpus. */
function tightServer(): { readonly server: McpServer; readonly failure: () => string | undefined } {
  const logger = recordingLogger();
  const limits = {
    maxBytes: 100_000,
    maxDepth: 20,
    maxElements: 2000,
    maxBatch: 20,
    maxQueueBytes: 5000,
    maxTotalQueueBytes: 20_000,
    maxSubscribedKeys: 20,
  };
  const server = new McpServer(
    { name: "tight", version: "1.0.0" },
    {
      logger,
      limits,
      pageSize: 2,
      tasks: { ttlMs: 300, maxTtlMs: 600, maxRunning: 20, maxRunningPerPrincipal: 15 },
    },
  );
  server.tool("test_simple_text", { input: { type: "object" }, output: { type: "object" } }, (args) => args);
  server.tool("test_tool_with_progress", {}, (_, ctx) => {
    ctx.progress(1, 2);
    ctx.log("info", "half");
    return "done";
  });
  server.tool("test_error_handling", {}, () => {
    throw new Error("on purpose");
  });
  const region = { type: "string", "x-mcp-header": "Region" } as const;
  server.tool("test_region", { input: { type: "object", properties: { region } } }, () => "there");
  addAskingTools(server);
  server.prompt("test_simple_prompt", {}, () => "Hello");
  const properties = { arg1: { type: "string" }, arg2: { type: "string" } };
  server.prompt(
    "test_prompt_with_arguments",
    { arguments: { type: "object", properties }, complete: { arg1: () => ["a"] } },
    (args) => JSON.stringify(args),
  );
  server.resource("test://static-text", {}, () => "text");
  server.resourceTemplate("test://template/{id}/data", {}, ({ uri }) => uri);
  let failure: string | undefined;
  const onRejection = (reason: unknown): void => void (failure = `an unhandled rejection: ${String(reason)}`);
  process.on("unhandledRejection", onRejection);
  const inLog = (): string | undefined => {
    const found = logger.entries.find(({ message }) => message.includes("could not be answered"));
    logger.entries.length = 0;
    return found && `the log says: ${String((found.details?.["error"] as Error | undefined)?.stack)}`;
  };
  return { server, failure: () => failure ?? inLog() };
}

/** Tools that ask, that become tasks, and that need scopes. */
function addAskingTools(server: McpServer): void {
  const named = { type: "object", properties: { name: { type: "string" } } } as const;
  server.tool("test_input_required_result_elicitation", {}, async (_, ctx) =>
    JSON.stringify(await ctx.elicit("Who?", named, { key: "user_name" })),
  );
  server.tool("test_input_required_result_multi_round", {}, async (_, ctx) => {
    const first = await ctx.elicit("Who?", named, { key: "step1" });
    return JSON.stringify([first, await ctx.elicit("And who?", named, { key: "step2" })]);
  });
  server.tool("confirm_delete", { task: "optional", input: { type: "object" } }, async (_, ctx) => {
    const schema = { type: "object", properties: { confirm: { type: "boolean" } } } as const;
    return JSON.stringify(await ctx.elicit("Sure?", schema, { key: "confirm", timeoutMs: 300 }));
  });
  server.tool("slow_compute", { task: "optional", input: { type: "object" } }, async (_, ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    ctx.progress(1);
    return "done";
  });
  server.tool("multi_input", { task: "optional" }, async (_, ctx) => {
    const keys = ["first", "second"];
    const asked = keys.map((key) => ctx.elicit(`The ${key}?`, named, { key, timeoutMs: 300 }));
    return JSON.stringify(await Promise.all(asked));
  });
  server.tool("write_note", { scopes: ["read", "write"] }, () => "written");
}

/** What this process has open, by kind. */
function openHandles(): Record<string, number> {
  const open = process.getActiveResourcesInfo().filter((kind) => kind.startsWith("TCP"));
  return Object.fromEntries(
    ["TCPSocketWrap", "TCPServerWrap"].map((kind) => [kind, open.filter((it) => it === kind).length]),
  );
}

export const localHttp: Target = {
  name: "local-http",
  input: httpInput,
  async start() {
    const { server, failure } = tightServer();
    const http = await serveHttp(server, { ...tight, port: 0, handleSignals: false });
    const peer = new HttpPeer(http.url);
    const shared = overHttp(peer);
    await peer.refresh();
    return {
      send: shared.send,
      check: async () => (await shared.check()) ?? failure(),
      async rest() {
        await peer.endAll();
        const { sessions, streams, subscriptions, inFlight, replayStreams, replayBytes } = await atRest(
          http.stats,
        );
        const counts = { sessions, streams, subscriptions, inFlight, replayStreams, replayBytes };
        return { heap: undefined, sessions: 0, handles: { ...counts, ...openHandles() } };
      },
      close: () => http.close(),
    };
  },
};

/** Sessions whose id was never read expire after a second of idleness, and are swept once a second. */
async function atRest<T extends { readonly sessions: number; readonly replayStreams: number }>(
  stats: () => T,
): Promise<T> {
  await until(() => stats().sessions === 0 && stats().replayStreams === 0, 6000).catch(() => {});
  return stats();
}

/** The same inputs as web-standard requests; undefined for what no such request can say. */
function toRequest(input: Input, signal: AbortSignal): Request | undefined {
  const text = Buffer.concat(piecesOf(input)).toString("latin1");
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const [method = "", path = ""] = line.split(" ");
  const body = rest.join("\r\n\r\n");
  try {
    const headers = new Headers(
      lines.map((header): [string, string] => {
        const colon = header.indexOf(":");
        return [header.slice(0, colon), header.slice(colon + 1).trim()];
      }),
    );
    headers.delete("content-length");
    const hasBody = body !== "" && method !== "GET" && method !== "HEAD";
    const init = { method, headers, signal, body: hasBody ? Buffer.from(body, "latin1") : null };
    return new Request(new URL(path, "http://localhost"), init);
  } catch {
    return undefined;
  }
}

export const localFetch: Target = {
  name: "local-fetch",
  input: httpInput,
  async start() {
    const { server, failure } = tightServer();
    const handler = fetchHandler(server, tight);
    const ask = async (request: Request, controller: AbortController): Promise<string | undefined> => {
      const late = new Promise<undefined>((resolve) => setTimeout(resolve, hangMs, undefined).unref());
      const response = await Promise.race([handler(request), late]);
      if (response === undefined) return "no answer within a second";
      if (response.status >= 500 && response.status !== 503) return `status ${response.status}`;
      const isJson = request.method !== "HEAD" && response.headers.get("content-type") === "application/json";
      const reply = new HttpReply(response.status, {}, response.body ?? new Blob([]).stream(), () => {});
      if (isJson) await reply.ended();
      controller.abort();
      return isJson ? messageProblem(reply.text) : undefined;
    };
    const good = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/list",
      params: { _meta: modernMeta() },
    };
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
    };
    return {
      async send(input) {
        const controller = new AbortController();
        const request = toRequest(input, controller.signal);
        return request && ask(request, controller);
      },
      async check() {
        const request = new Request("http://localhost/mcp", {
          method: "POST",
          headers,
          body: JSON.stringify(good),
        });
        const response = await handler(request);
        const text = await response.text();
        if (response.status !== 200) return `a good call gets ${response.status} ${text}`;
        return failure();
      },
      async rest() {
        const { sessions, streams, subscriptions, inFlight, replayStreams } = await atRest(handler.stats);
        return {
          heap: undefined,
          sessions: 0,
          handles: { sessions, streams, subscriptions, inFlight, replayStreams },
        };
      },
      close: () => handler.close(),
    };
  },
};
