// timeoutMs and maxConcurrent: the limits of one tool, and the error that the model sees past them.
import { type Context, ToolError } from "halyard";
import { connect } from "halyard/testing";
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { call, list, makeServer, open, textOf } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

const nameOf = (reason: unknown): string => (reason as DOMException).name;

describeMatrix("limits of a tool", {}, (cell) => {
  test("a tool that takes longer than timeoutMs is aborted, and the model is told the limit [TOOL-SEC-SERVER]", async () => {
    const { server, log } = makeServer();
    let signal: AbortSignal | undefined;
    server.tool("slow", { timeoutMs: 20 }, (_, ctx) => {
      ({ signal } = ctx);
      return new Promise<string>(() => {});
    });
    const client = await open(cell, server);
    const result = await call(client, "slow");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe("Tool slow did not finish within its limit of 20 ms");
    expect(nameOf(signal?.reason)).toBe("TimeoutError");
    expect(log.map(({ level, message }) => [level, message])).toContainEqual(["warn", textOf(result)]);
  });

  test("a call past maxConcurrent is told to try again, and one comes in when another has ended [TOOL-SEC-SERVER]", async () => {
    const { server } = makeServer();
    const gates = [deferred(), deferred(), deferred()];
    let begun = 0;
    server.tool("scarce", { maxConcurrent: 2 }, async () => {
      await gates[begun++]?.promise;
      return "done";
    });
    const client = await open(cell, server);
    const running = [call(client, "scarce"), call(client, "scarce")];
    await until(() => begun === 2);
    const refused = await call(client, "scarce");
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toBe(
      "Tool scarce is busy: at most 2 of its calls run at once. Try again in a moment",
    );
    expect(begun).toBe(2);
    gates[0]?.resolve();
    expect(textOf((await running[0]) as never)).toBe("done");
    const next = call(client, "scarce");
    await until(() => begun === 3);
    for (const gate of gates) gate.resolve();
    expect(textOf(await next)).toBe("done");
    await running[1];
  });
});

/** Each way for a handler to end, and whether it leaves its place. */
const endings: Record<string, () => unknown> = {
  "returns at once": () => "done",
  "throws at once": () => {
    throw new ToolError("no");
  },
  resolves: () => Promise.resolve("done"),
  rejects: () => Promise.reject(new ToolError("no")),
};

const modern = { revision: "2026-07-28" };

async function connected(handler: (ctx: Context) => unknown, limits: object) {
  const made = makeServer();
  made.server.tool("limited", limits, (_, ctx) => handler(ctx) as string);
  return { ...made, client: await connect(made.server, modern) };
}

describe("limits of a tool", () => {
  test.each(Object.entries(endings))("a handler that %s gives its place back", async (_, end) => {
    const { client } = await connected(end, { maxConcurrent: 1, timeoutMs: 1000 });
    const first = textOf(await call(client, "limited"));
    expect(first).toMatch(/^(?:done|no)$/);
    expect(textOf(await call(client, "limited"))).toBe(first);
    await client.close();
  });

  test("a handler that continues after its time keeps its place until it has ended", async () => {
    const gate = deferred();
    const { client } = await connected(() => gate.promise.then(() => "late"), {
      maxConcurrent: 1,
      timeoutMs: 10,
    });
    expect(textOf(await call(client, "limited"))).toContain("limit of 10 ms");
    expect(textOf(await call(client, "limited"))).toContain("is busy");
    gate.resolve();
    await nextTurn();
    expect(textOf(await call(client, "limited"))).toBe("late");
    await client.close();
  });

  test("ctx.signal is aborted for a handler that first asks for it when its time is up", async () => {
    const gate = deferred();
    const seen = deferred<boolean>();
    const { client } = await connected(
      async (ctx) => {
        await gate.promise;
        seen.resolve(ctx.signal.aborted);
      },
      { timeoutMs: 10 },
    );
    await call(client, "limited");
    gate.resolve();
    expect(await seen.promise).toBe(true);
    await client.close();
  });

  test("what a handler throws because it was aborted does not take the place of the limit, or of the log", async () => {
    const { client, log } = await connected(
      (ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error));
        }),
      { timeoutMs: 10 },
    );
    expect(textOf(await call(client, "limited"))).toContain("limit of 10 ms");
    await nextTurn();
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
    await client.close();
  });

  test("a tool in time leaves no timer behind", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { client } = await connected(() => Promise.resolve("quick"), { timeoutMs: 60_000 });
      expect(textOf(await call(client, "limited"))).toBe("quick");
      expect(vi.getTimerCount()).toBe(0);
      await client.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test("a tool with an output schema is limited too, and its limits are not published", async () => {
    const { server } = makeServer();
    const output = z.object({ sum: z.number() });
    server.tool(
      "sum",
      { output, timeoutMs: 10, maxConcurrent: 5 },
      () => new Promise<{ sum: number }>(() => {}),
    );
    const client = await connect(server, modern);
    expect(textOf(await call(client, "sum"))).toContain("limit of 10 ms");
    const [tool] = await list(client, "tools/list");
    expect(Object.keys(tool ?? {}).toSorted()).toEqual(["inputSchema", "name", "outputSchema"]);
    await client.close();
  });
});
