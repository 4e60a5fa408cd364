// The servers that our client is tried with, and what each of them cannot do.
import {
  ending,
  type Gap,
  noStream,
  noTool,
  onePage,
  runsOn,
  unanswered,
  undeclared,
  unreported,
  unstructured,
} from "./gaps.ts";
import { clustered, inMemory, onPort, onStdio, overHttp, type Start } from "./programs.ts";
import { everythingScript, pagedResources, type Script } from "./script.ts";
import type { StepName } from "./steps.ts";

export interface ServerRow {
  readonly name: string;
  /** The revision that `connect` finds by itself, or the one that it is given. */
  readonly revision: string;
  /** Whether `connect` is given the revision. */
  readonly isPinned?: boolean;
  readonly serverName: string;
  /** What the steps call, and expect. @default {ourScript} */
  readonly script?: Script;
  readonly start: Start;
  /** How the server responds to a call of an unknown tool. @default {-32602} */
  readonly unknownTool?: number | "isError";
  readonly cannot: { readonly [name in StepName]?: Gap };
}

type Gaps = ServerRow["cannot"];

/** The rows of one SDK: what they share, and the ways to serve it. */
function family<Shared extends Partial<ServerRow> & { readonly name: string }>(
  shared: Shared,
  ways: readonly (Omit<ServerRow, keyof Shared> & { readonly way: string } & Partial<ServerRow>)[],
): readonly ServerRow[] {
  return ways.map((way) =>
    Object.assign({} as ServerRow, shared, way, {
      name: `${shared.name}, ${way.way}, ${way.revision ?? shared.revision}`,
    }),
  );
}

const modern = "2026-07-28";
const legacy = "2025-11-25";

const nothingToDrop = (because: string): Gaps => ({ resume: ending("drop", /Nothing to drop/u, because) });
const notResumable = nothingToDrop("it keeps no events, so a stream cannot be resumed");
const noDrop: Gaps = { resume: noTool("drop", "none of its tools can close a stream") };
const noTasks: Gaps = { task: undeclared("tasks", "it has no tasks") };

/** Servers that live for one request. */
const perRequest = "each request has a server of its own";
const noSession: Gaps = {
  toolsChange: noStream(`${perRequest}, and no stream outlives it`),
  resourceChange: noStream(`${perRequest}, and no stream outlives it`),
};
const answersLost: Gaps = {
  cancel: runsOn(`${perRequest}, which does not hear that another is cancelled`),
  elicit: unanswered("ask", `${perRequest}: the answer reaches another one`),
  sample: unanswered("sample", `${perRequest}: the answer reaches another one`),
  roots: unanswered("roots", `${perRequest}: the answer reaches another one`),
  task: ending("job", /task/iu, `${perRequest}, and knows no task of another one`),
};
/** Replies without a stream. */
const jsonReplies: Gaps = {
  progress: unreported("steps", "a JSON reply carries the result alone"),
  log: unreported("log", "a JSON reply carries the result alone"),
  elicit: unanswered("ask", "a JSON reply cannot carry the question"),
  sample: unanswered("sample", "a JSON reply cannot carry the question"),
  roots: unanswered("roots", "a JSON reply cannot carry the question"),
};

const v2 = (path: string): Start => onPort("official-v2.mjs", path, "http");
const v2Gaps: Gaps = { ...notResumable, ...noTasks };
const v2Modern: Gaps = { ...v2Gaps, task: undeclared("extensions", "it has no tasks") };
const cannotAsk = "it refuses to ask where the answer would reach another server";
export const officialV2 = family(
  { name: "the official server v2", serverName: "official-v2", script: pagedResources },
  [
    { way: "stdio", revision: modern, start: onStdio("official-v2.mjs"), cannot: v2Modern },
    { way: "HTTP", revision: modern, start: v2("/modern"), cannot: v2Modern },
    { way: "HTTP, modern only, SSE replies", revision: modern, start: v2("/strict"), cannot: v2Modern },
    {
      way: "stdio",
      revision: legacy,
      start: onStdio("official-v2.mjs", "legacy-stdio"),
      cannot: v2Gaps,
    },
    { way: "HTTP", revision: legacy, start: v2("/sessions"), cannot: v2Gaps },
    { way: "HTTP, event store", revision: legacy, start: v2("/resumable"), cannot: noTasks },
    {
      way: "HTTP, the modern endpoint",
      revision: legacy,
      isPinned: true,
      start: v2("/modern"),
      cannot: {
        ...v2Gaps,
        ...noSession,
        elicit: ending("ask", /Cannot request input/u, cannotAsk),
        sample: ending("sample", /Cannot request input/u, cannotAsk),
        roots: ending("roots", /Cannot request input/u, cannotAsk),
      },
    },
  ],
);

const v1 = (path: string): Start => onPort("official-v1.mjs", path, "http");
export const officialV1 = family(
  {
    name: "the official server v1",
    revision: legacy,
    serverName: "official-v1",
    script: pagedResources,
    unknownTool: "isError",
  },
  [
    { way: "stdio", start: onStdio("official-v1.mjs"), cannot: notResumable },
    { way: "HTTP", start: v1("/sessions"), cannot: notResumable },
    { way: "HTTP, event store", start: v1("/resumable"), cannot: {} },
    { way: "HTTP, JSON replies", start: v1("/json"), cannot: { ...notResumable, ...jsonReplies } },
    {
      way: "HTTP, stateless",
      start: v1("/stateless"),
      cannot: { ...notResumable, ...noSession, ...answersLost },
    },
    {
      way: "HTTP, stateless, JSON replies",
      start: v1("/stateless-json"),
      cannot: { ...notResumable, ...noSession, ...answersLost, ...jsonReplies },
    },
    { way: "HTTP+SSE", start: v1("/sse"), cannot: notResumable },
  ],
);

const everythingGaps: Gaps = {
  ...noDrop,
  pages: onePage,
  cancel: noTool("waits", "none of its tools tells that it was cancelled"),
  toolsChange: noTool("offer", "none of its tools changes the list"),
};

export const everything = family(
  {
    name: "server-everything",
    revision: legacy,
    serverName: "mcp-servers/everything",
    script: everythingScript,
    unknownTool: "isError",
    cannot: everythingGaps,
  },
  [
    { way: "stdio", start: onStdio("everything") },
    { way: "HTTP", start: onPort("everything", "/mcp", "streamableHttp") },
    { way: "HTTP+SSE", start: onPort("everything", "/sse", "sse") },
  ],
);

const fast: Gaps = {
  ...noDrop,
  ...noTasks,
  pages: onePage,
  toolsChange: undeclared("tools.listChanged", "it does not declare that the list changes"),
};
const fastStateless: Gaps = {
  ...noSession,
  cancel: runsOn(`${perRequest}, which does not hear that another is cancelled`),
  ...fast,
  log: unreported("log", "it logs to the session, which there is none of"),
  elicit: ending("ask", /execution failed/u, "it does not know what the client can answer"),
  sample: ending("sample", /execution failed/u, "it does not know what the client can answer"),
  roots: ending("roots", /execution failed/u, "it does not know what the client can answer"),
};

export const fastmcp = family(
  { name: "FastMCP", revision: legacy, serverName: "fastmcp", unknownTool: -32601 },
  [
    { way: "stdio", start: onStdio("fastmcp.mjs"), cannot: fast },
    { way: "HTTP", start: onPort("fastmcp.mjs", "/mcp", "http"), cannot: fast },
    {
      way: "HTTP, stateless",
      start: onPort("fastmcp.mjs", "/mcp", "http", "stateless"),
      cannot: fastStateless,
    },
  ],
);

const lite: Gaps = {
  ...noDrop,
  ...noTasks,
  pages: onePage,
  cancel: noTool("wait", "it ignores notifications/cancelled"),
  log: undeclared("logging", "it sends no log messages"),
  completion: undeclared("completions", "it completes nothing"),
  resourceChange: undeclared("resources.subscribe", "it knows no subscriptions"),
  roots: noTool("roots", "it cannot ask for roots"),
};
const unknowing = "it forgets what the client can answer";

export const mcpLite = family({ name: "mcp-lite", serverName: "mcp-lite", unknownTool: -32601 }, [
  {
    way: "HTTP",
    revision: "2025-03-26",
    start: onPort("mcp-lite.mjs", "/sessions"),
    cannot: {
      ...lite,
      elicit: ending(
        "ask",
        /Unknown method/u,
        "it offers 2025-03-26 to clients that are newer than it is, and then asks what that revision does not have",
      ),
    },
  },
  {
    way: "HTTP, by its own revision",
    revision: "2025-06-18",
    isPinned: true,
    start: onPort("mcp-lite.mjs", "/sessions"),
    cannot: lite,
  },
  {
    way: "HTTP, stateless",
    revision: "2025-03-26",
    start: onPort("mcp-lite.mjs", "/stateless"),
    cannot: {
      ...lite,
      elicit: ending("ask", /not supported by client/u, unknowing),
      sample: ending("sample", /not supported by client/u, unknowing),
    },
  },
]);

const t: Gaps = { ...noDrop, task: undeclared("tasks", "it has no tasks") };
const tModern: Gaps = {
  ...t,
  task: undeclared("extensions", "it has no tasks"),
  roots: ending("roots", /roots are deprecated/u, "it asks modern clients for no roots"),
};
const noSignal = ending("wait", /Cannot read properties/u, "it passes no signal to tools on stdio");

export const tmcp = family({ name: "tmcp", serverName: "tmcp", unknownTool: "isError" }, [
  {
    way: "stdio",
    revision: modern,
    start: onStdio("tmcp.mjs"),
    cannot: { ...tModern, cancel: noSignal },
  },
  { way: "HTTP", revision: modern, start: onPort("tmcp.mjs", "/mcp", "http"), cannot: tModern },
  {
    way: "stdio",
    revision: "2025-06-18",
    isPinned: true,
    start: onStdio("tmcp.mjs"),
    cannot: { ...t, cancel: noSignal },
  },
  {
    way: "HTTP",
    revision: "2025-06-18",
    isPinned: true,
    start: onPort("tmcp.mjs", "/mcp", "http"),
    cannot: t,
  },
]);

const whole = nothingToDrop("a modern server keeps no events, and streams on pipes do not close");
const before2025June: Gaps = {
  ...noTasks,
  elicit: ending("ask", /elicit/iu, "the revision has no elicitation"),
  structured: unstructured("the revision has no structured content"),
};

export const ours = family({ name: "Halyard", serverName: "halyard" }, [
  { way: "memory", revision: modern, start: inMemory, cannot: whole },
  { way: "stdio", revision: modern, start: onStdio("halyard.mjs"), cannot: whole },
  { way: "HTTP", revision: modern, start: overHttp, cannot: whole },
  { way: "HTTP", revision: legacy, isPinned: true, start: overHttp, cannot: {} },
  { way: "HTTP", revision: "2025-06-18", isPinned: true, start: overHttp, cannot: noTasks },
  { way: "HTTP", revision: "2025-03-26", isPinned: true, start: overHttp, cannot: before2025June },
  { way: "HTTP", revision: "2024-11-05", isPinned: true, start: overHttp, cannot: before2025June },
  { way: "three nodes", revision: modern, start: clustered, cannot: whole },
  { way: "three nodes", revision: legacy, isPinned: true, start: clustered, cannot: {} },
]);
