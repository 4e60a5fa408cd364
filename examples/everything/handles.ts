// Tools that control the server itself: tests use them to make it change, push, wait or report what it holds.
import { setTimeout as sleep } from "node:timers/promises";
import { HalyardError, type McpServer, ToolError } from "halyard";
import type { HttpStats } from "halyard/node";
import * as z from "zod";

/** The last number counted in each session. */
export class SessionCounters {
  readonly #counts = new Map<string, number>();

  next(session: string): number {
    const count = (this.#counts.get(session) ?? 0) + 1;
    this.#counts.set(session, count);
    return count;
  }

  forget(session: string | undefined): void {
    if (session !== undefined) this.#counts.delete(session);
  }
}

interface Inside {
  readonly counters: SessionCounters;
  readonly httpStats: () => HttpStats | undefined;
}

export function addHandles(server: McpServer, { counters, httpStats }: Inside): void {
  server.tool(
    "sleep_echo",
    {
      description: "Returns the text after that many milliseconds.",
      input: z.object({ ms: z.int().min(0).max(600_000), text: z.string() }),
    },
    async ({ ms, text }, ctx) => {
      await sleep(ms, undefined, { signal: ctx.signal });
      return text;
    },
  );

  addCatalogueHandles(server);
  addSessionHandles(server, counters);
  addStats(server, httpStats);
}

function addCatalogueHandles(server: McpServer): void {
  server.tool(
    "add_tool",
    { description: "Offers a tool of that name.", input: z.object({ name: z.string() }) },
    ({ name }) => {
      try {
        server.tool(name, { description: "Was added by add_tool." }, () => `This is ${name}`);
      } catch (error) {
        throw explained(error);
      }
      return `Added ${name}`;
    },
  );

  server.tool(
    "remove_tool",
    { description: "Takes the tool of that name away.", input: z.object({ name: z.string() }) },
    ({ name }) => {
      if (!server.tools.remove(name)) throw new ToolError(`There is no tool "${name}"`);
      return `Removed ${name}`;
    },
  );

  server.tool(
    "touch_resource",
    {
      description: "Tells those who watch the URI that it has changed.",
      input: z.object({ uri: z.string() }),
    },
    async ({ uri }) => `Told ${await server.resources.updated(uri)}`,
  );
}

function addSessionHandles(server: McpServer, counters: SessionCounters): void {
  server.tool(
    "emit_numbered",
    {
      description: "Pushes numbered log messages to the caller's session; each session counts its own.",
      input: z.object({
        count: z.int().min(1).max(1_000_000),
        intervalMs: z.int().min(0).max(60_000).default(0),
      }),
    },
    async ({ count, intervalMs }, ctx) => {
      const { session } = ctx;
      if (session === undefined) throw new ToolError("This client has no session to push to");
      let last = 0;
      for (let sent = 0; sent < count && !ctx.signal.aborted; sent++) {
        if (sent > 0 && intervalMs > 0) await sleep(intervalMs);
        last = counters.next(session);
        const params = { level: "info", logger: "emit_numbered", data: last };
        const isThere = await server.push.toSession(session, "notifications/message", params);
        if (!isThere) throw new ToolError(`The session has ended before ${last}`);
      }
      return `Emitted up to ${last}`;
    },
  );

  server.tool(
    "ping_session",
    {
      description: "Asks the client of a session for a sign of life, and waits for it.",
      input: z.object({ sessionId: z.string() }),
    },
    async ({ sessionId }) => {
      try {
        await server.push.ping(sessionId);
      } catch (error) {
        throw explained(error);
      }
      return `Session ${sessionId} is alive`;
    },
  );
}

const noHttp: HttpStats = {
  sessions: 0,
  streams: 0,
  subscriptions: 0,
  inFlight: 0,
  inFlightBytes: 0,
  unsentBytes: 0,
  replayStreams: 0,
  replayBytes: 0,
  callers: 0,
  timers: 0,
};

function addStats(server: McpServer, httpStats: Inside["httpStats"]): void {
  const count = z.int().min(0);
  server.tool(
    "stats",
    {
      description:
        "Says what the server holds, this call included; the heap after a collection, if there can be one.",
      output: z.object({
        sessions: count,
        streams: count,
        subscriptions: count,
        inFlight: count,
        inFlightBytes: count,
        unsentBytes: count,
        pendingAsks: count,
        replayStreams: count,
        replayBytes: count,
        callers: count,
        timers: count,
        heapUsed: count,
      }),
      annotations: { readOnlyHint: true },
    },
    async () => {
      const stats = httpStats() ?? noHttp;
      const pendingAsks = await server.push.pendingAsks();
      // Defined only with --expose-gc.
      (globalThis as { gc?: () => void }).gc?.();
      return { ...stats, pendingAsks, heapUsed: process.memoryUsage().heapUsed };
    },
  );
}

/** Reports a mistake of the caller to the caller; any other exception stays hidden. */
function explained(error: unknown): unknown {
  return error instanceof HalyardError ? new ToolError(error.message) : error;
}
