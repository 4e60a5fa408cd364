// What a handler that runs again may rely on: work done once, ends that are run, and a reply that nothing else changes.
import { type Context, InputPending, type JsonObject } from "halyard";
import { connect, questionsIn, retryOf } from "halyard/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { ableClient } from "../../support/answering.ts";
import { askingTool, echo, said } from "../../support/asking-tool.ts";
import { makeServer } from "../../support/catalogue.ts";
import { newestLegacy, newestModern } from "../../support/raw.ts";
import { deferred, nextTurn, until } from "../../support/turns.ts";

const text = z.object({ text: z.string() });
const pause = (timeMs: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, timeMs));

describe("the end of a run", () => {
  test("an open question rejects with InputPending, so that finally blocks run", async () => {
    const seen: unknown[] = [];
    const { ask } = await askingTool(async (_, ctx) => {
      try {
        return (await ctx.elicit("A", text)).text;
      } catch (error) {
        seen.push(error);
        throw error;
      } finally {
        seen.push("finally");
      }
    });
    const first = await ask();
    await nextTurn();
    expect(seen).toEqual([expect.any(InputPending), "finally"]);
    expect(said(await ask(retryOf(first, echo)))).toBe("a");
  });

  test.each<[string, () => unknown]>([
    ["returns something", () => "swallowed"],
    ["throws something else", () => Promise.reject(new Error("Something else"))],
    ["never ends", () => new Promise(() => {})],
  ])("a handler that catches InputPending and %s changes nothing, and is not logged", async (_, end) => {
    const { ask, log } = await askingTool(async (__, ctx) => {
      try {
        return (await ctx.elicit("A", text)).text;
      } catch (error) {
        if (!(error instanceof InputPending)) throw error;
        return end();
      }
    });
    const first = await ask();
    expect(first["resultType"]).toBe("input_required");
    await nextTurn();
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
    expect(said(await ask(retryOf(first, echo)))).toBe("a");
  });

  test("a question that begins when the round has closed waits for the next one", async () => {
    const { ask } = await askingTool(async (_, ctx) => {
      const late = async (): Promise<string> => {
        await pause(10);
        return (await ctx.elicit("B", text)).text;
      };
      const [a, b] = await Promise.all([ctx.elicit("A", text), late()]);
      return `${a.text} ${b}`;
    });
    const first = await ask();
    expect(questionsIn(first)).toMatchObject([{ params: { message: "A" } }]);
    const second = await ask(retryOf(first, echo));
    expect(questionsIn(second)).toMatchObject([{ params: { message: "B" } }]);
    expect(said(await ask(retryOf(second, echo)))).toBe("a b");
  });
});

describe("middleware", () => {
  test("sees InputPending, its finally runs, and what it makes of it is ignored", async () => {
    const seen: string[] = [];
    const { ask } = await askingTool(async (_, ctx) => (await ctx.elicit("A", text)).text, {
      prepare: (server) =>
        server.use(async (_, __, next) => {
          try {
            return await next();
          } catch (error) {
            if (!(error instanceof InputPending)) throw error;
            seen.push("pending");
            return { content: [] };
          } finally {
            seen.push("finally");
          }
        }),
    });
    const first = await ask();
    await nextTurn();
    expect(first["resultType"]).toBe("input_required");
    expect(seen).toEqual(["pending", "finally"]);
    expect(said(await ask(retryOf(first, echo)))).toBe("a");
    expect(seen).toEqual(["pending", "finally", "finally"]);
  });

  test("may ask, too: before the handler, on every round", async () => {
    const { converse } = await askingTool(async (_, ctx) => (await ctx.elicit("B", text)).text, {
      prepare: (server) =>
        server.use(async (_, ctx, next) => {
          await ctx.elicit("A", text);
          return next();
        }),
    });
    const { result, asked } = await converse(echo);
    expect(asked.map(({ params }) => params["message"])).toEqual(["A", "B"]);
    expect(said(result)).toBe("b");
  });
});

describe.each([newestModern, newestLegacy])("ctx.once · %s", (revision) => {
  test("gives what JSON makes of the result, the first time too", async () => {
    const { converse } = await askingTool(
      async (_, ctx) => {
        const made = await ctx.once("made", () => ({ at: new Date(0), none: undefined, list: [undefined] }));
        const nothing = await ctx.once("nothing", () => {});
        await ctx.elicit("A", text);
        return JSON.stringify([made, nothing === undefined]);
      },
      { revision },
    );
    expect(said((await converse(echo)).result)).toBe(
      '[{"at":"1970-01-01T00:00:00.000Z","list":[null]},true]',
    );
  });

  test("does work without a result once", async () => {
    let count = 0;
    const { converse } = await askingTool(
      async (_, ctx) => {
        await ctx.once("count", () => void count++);
        await ctx.elicit("A", text);
        return "done";
      },
      { revision },
    );
    expect(said((await converse(echo)).result)).toBe("done");
    expect(count).toBe(1);
  });

  test("does the work of a key once, however many want it at the same time", async () => {
    let count = 0;
    const { converse } = await askingTool(
      async (_, ctx) => {
        const work = async (): Promise<number> => {
          await pause(2);
          return ++count;
        };
        const results = await Promise.all([
          ctx.once("k", work),
          ctx.once("k", work),
          ctx.once("other", work),
        ]);
        await ctx.elicit("A", text);
        return [...results, await ctx.once("k", work)].join();
      },
      { revision },
    );
    expect(said((await converse(echo)).result)).toBe("1,1,2,1");
    expect(count).toBe(2);
  });

  test("does not keep an error: the next one to come does the work again", async () => {
    let count = 0;
    const work = (): number => {
      if (++count === 1) throw new Error("Not this time");
      return count;
    };
    const { converse } = await askingTool(
      async (_, ctx) => {
        const first = await ctx.once("k", work).catch((error: Error) => error.message);
        const second = await ctx.once("k", work);
        await ctx.elicit("A", text);
        return `${first} ${second}`;
      },
      { revision },
    );
    const { result } = await converse(echo);
    expect(count).toBe(2);
    expect(said(result)).toBe(revision === newestModern ? "2 2" : "Not this time 2");
  });

  test("whose work fails while a question is open does not end the process", async () => {
    const { converse } = await askingTool(
      async (_, ctx) => {
        const failing = ctx.once("k", () => Promise.reject(new Error("Broken")));
        await ctx.elicit("A", text);
        return failing.catch((error: Error) => error.message);
      },
      { revision },
    );
    expect(said((await converse(echo)).result)).toBe("Broken");
  });

  test.each<[string, () => Promise<unknown>]>([
    ["at once", async () => {}],
    ["later", () => pause(5)],
  ])("whose work asks %s is kept when it has its answer", async (_, before) => {
    let kept = 0;
    const { converse } = await askingTool(
      async (__, ctx) => {
        const name = await ctx.once("k", async () => {
          await before();
          const answer = await ctx.elicit("A", text);
          kept++;
          return answer.text;
        });
        const { text: last } = await ctx.elicit("B", text);
        return `${name} ${last}`;
      },
      { revision },
    );
    const { result, asked } = await converse(echo);
    expect(said(result)).toBe("a b");
    expect(asked.map(({ params }) => params["message"])).toEqual(["A", "B"]);
    expect(kept).toBe(1);
  });
});

describe("ctx.once beside a question", () => {
  const setup = async (
    begin: (work: () => Promise<number>, once: (key: string) => Promise<unknown>) => Promise<unknown>,
  ): Promise<{ text: unknown; count: number }> => {
    let count = 0;
    const work = async (): Promise<number> => {
      await pause(10);
      return ++count;
    };
    const { converse } = await askingTool(async (_, ctx) => {
      const once = (key: string): Promise<unknown> => ctx.once(key, work);
      const [answer, done] = await Promise.all([ctx.elicit("A", text), begin(work, once)]);
      return `${answer.text} ${String(done)}`;
    });
    const { result } = await converse(echo);
    await pause(15);
    return { text: said(result), count };
  };

  test("is waited for, so that its result is not lost", async () => {
    expect(await setup((_, once) => once("k"))).toEqual({ text: "a 1", count: 1 });
  });

  test("is waited for when it follows on another", async () => {
    const chain = async (_: unknown, once: (key: string) => Promise<unknown>): Promise<unknown> => {
      await once("one");
      await nextTick(20);
      return once("two");
    };
    const { text: answer, count } = await setup(chain);
    expect(answer).toBe("a 2");
    expect(count).toBe(2);
  });

  test("is waited for when the question comes after it, whatever becomes of the run", async () => {
    let count = 0;
    const { converse } = await askingTool(async (_, ctx) => {
      const work = async (): Promise<number> => {
        await pause(10);
        return ++count;
      };
      const [done, answer] = await Promise.all([ctx.once("k", work), ctx.elicit("A", text)]);
      return `${answer.text} ${done}`;
    });
    const { result, rounds } = await converse(echo);
    expect(said(result)).toBe("a 1");
    expect({ count, rounds }).toEqual({ count: 1, rounds: 1 });
  });

  test("is not begun when the round has closed: it would be done twice", async () => {
    const late = async (_: unknown, once: (key: string) => Promise<unknown>): Promise<unknown> => {
      await pause(5);
      return once("k");
    };
    expect(await setup(late)).toEqual({ text: "a 1", count: 1 });
  });

  test("keeps the round open for as long as it takes", async () => {
    const gate = deferred();
    const { client, ask } = await askingTool(async (_, ctx) => {
      await Promise.all([ctx.elicit("A", text), ctx.once("k", () => gate.promise)]);
      return "done";
    });
    const asked = ask();
    await pause(20);
    expect(client.received).toEqual([]);
    gate.resolve();
    const first: JsonObject = await asked;
    expect(said(await ask(retryOf(first, echo)))).toBe("done");
  });

  const never = (): Promise<never> => new Promise(() => {});
  const orders: Readonly<Record<string, (ctx: Context) => readonly Promise<unknown>[]>> = {
    "the question first": (ctx) => [ctx.elicit("A", text), ctx.once("k", never)],
    "the work first": (ctx) => [ctx.once("k", never), ctx.elicit("A", text)],
  };

  test.each(Object.keys(orders))("has the time of its tool and no more, %s", async (order) => {
    const { server } = makeServer();
    server.tool("endless", { timeoutMs: 20 }, async (_, ctx) => {
      await Promise.all(orders[order]?.(ctx) ?? []);
      return "done";
    });
    const client = await connect(server, { revision: newestModern, capabilities: ableClient });
    onTestFinished(() => client.close());
    const answer = await client.request("tools/call", { name: "endless" }).catch((error: Error) => error);
    expect(answer instanceof Error ? answer.message : said(answer)).toContain("limit of 20 ms");
  });

  test.each(["before the question", "after it"])(
    "is not waited for when its client has cancelled the call %s",
    async (moment) => {
      const outcomes: string[] = [];
      const { server } = makeServer({
        observe: (event) => event.type === "request" && outcomes.push(event.outcome),
      });
      const begun = deferred();
      server.tool("endless", {}, async (_, ctx) => {
        const work = ctx.once("k", never);
        if (moment === "before the question") {
          begun.resolve();
          await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        }
        await Promise.all([work, ctx.elicit("A", text)]).finally(begun.resolve);
        return "done";
      });
      const client = await connect(server, { revision: newestModern, capabilities: ableClient });
      onTestFinished(() => client.close());
      const request = { jsonrpc: "2.0", id: "endless", method: "tools/call" };
      client.send({ ...request, ...client.withMeta({ name: "endless" }) });
      await begun.promise;
      client.notify("notifications/cancelled", { requestId: request.id });
      await until(() => outcomes.length === 1);
      expect(outcomes).toEqual(["cancelled"]);
    },
  );
});

/** Lets some turns of the microtask queue pass, and no more. */
async function nextTick(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
}
