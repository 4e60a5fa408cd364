// States that open once: the contract of the store behind them, and servers that share one.
import { type JsonObject, MemorySingleUseStore, type SingleUseStore } from "halyard";
import { singleUseStoreContract } from "halyard/testing";
import { describe, expect, test } from "vitest";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { askingServer, begin, retry, type Turn, ways } from "../../support/asking-server.ts";

const call: Turn = { method: "tools/call", params: { name: "ask", arguments: { a: 1 } } };
const keys = ["a secret that both servers have, of 32 bytes"];
/** What the call comes to, and not one more question. */
const done = { resultType: "complete", content: [{ type: "text", text: "Hello Ada" }] };
const refusal = { code: -32602, message: "Invalid or expired requestState" };

describe("MemorySingleUseStore", () => {
  test.each(singleUseStoreContract())("$title", ({ run }) => run(() => new MemorySingleUseStore()));

  test("refuses to mark more than it may hold, until marks are over", async () => {
    stopClock();
    const store = new MemorySingleUseStore(2);
    expect([await store.claim("a", 1000), await store.claim("b", 1000)]).toEqual([true, true]);
    await expect(store.claim("c", 1000)).rejects.toThrow("2 ids");
    expect(await store.claim("a", 1000)).toBe(false);
    passSeconds(1);
    expect([await store.claim("c", 1000), await store.claim("a", 1000)]).toEqual([true, true]);
  });
});

describe("singleUseStoreContract", () => {
  const forgetful = (): SingleUseStore => ({ claim: async () => true });
  const stubborn = (): SingleUseStore => ({ claim: async () => false });
  const prefixed = (): SingleUseStore => {
    const store = new MemorySingleUseStore();
    return { claim: (id, ttlMs) => store.claim(id.slice(0, 36).toLowerCase(), ttlMs) };
  };
  const racing = (): SingleUseStore => {
    const used = new Set<string>();
    return {
      async claim(id) {
        const isNew = !used.has(id);
        await new Promise((resolve) => setImmediate(resolve));
        used.add(id);
        return isNew;
      },
    };
  };
  const renewing = (): SingleUseStore => {
    const ends = new Map<string, number>();
    return {
      async claim(id, ttlMs) {
        const isNew = (ends.get(id) ?? 0) <= Date.now();
        ends.set(id, Date.now() + ttlMs);
        return isNew;
      },
    };
  };

  test.each(Object.entries({ forgetful, stubborn, prefixed, racing, renewing }))(
    "finds a store that is %s",
    async (_, make) => {
      const runs = await Promise.allSettled(singleUseStoreContract().map(({ run }) => run(make)));
      expect(runs.some(({ status }) => status === "rejected")).toBe(true);
    },
  );
});

describe("secureRequestState({ singleUse })", () => {
  test("opens a state once among the servers that share a store [MRTR-STATE-ONCE]", async () => {
    const singleUse = new MemorySingleUseStore();
    const servers = [askingServer({ keys, singleUse }), askingServer({ keys, singleUse })] as const;
    const [one, other] = [await ways.http(servers[0].server), await ways.http(servers[1].server)];
    const state = await begin(one, call);
    expect((await other(retry(call, state))).result).toMatchObject(done);
    expect((await one(retry(call, state))).error).toEqual(refusal);
    expect((await other(retry(call, state))).error).toEqual(refusal);
    expect(servers.map(({ reasons }) => reasons())).toEqual([
      ["it was already used"],
      ["it was already used"],
    ]);
    expect(servers.map(({ finished }) => finished())).toEqual([0, 1]);
  });

  test("opens a state once though it is brought many times at once [MRTR-STATE-ONCE]", async () => {
    const { server, finished } = askingServer({ singleUse: true });
    const say = await ways.http(server);
    const state = await begin(say, call);
    const replies = await Promise.all(Array.from({ length: 10 }, () => say(retry(call, state))));
    expect(replies.filter(({ result }) => result !== undefined)).toMatchObject([{ result: done }]);
    expect(replies.flatMap(({ error }) => error ?? [])).toEqual(Array.from({ length: 9 }, () => refusal));
    expect(finished()).toBe(1);
  });

  test("gives each round a state of its own", async () => {
    const { server } = askingServer({ singleUse: true });
    const say = await ways.http(server);
    const first = await begin(say, call);
    const unanswered = (requestState: string): Turn => ({
      ...call,
      params: { ...call.params, inputResponses: {} as JsonObject, requestState },
    });
    const second = await begin(say, unanswered(first));
    expect((await say(retry(call, first))).error).toEqual(refusal);
    expect((await say(retry(call, second))).result).toMatchObject(done);
  });

  test("does not use up a state that somebody else brings", async () => {
    const { server } = askingServer({ singleUse: true });
    const say = await ways.http(server);
    const alice = { issuer: "https://issuer.example", subject: "alice" };
    const state = await begin(say, { ...call, user: alice });
    expect((await say(retry(call, state))).error).toEqual(refusal);
    expect((await say(retry({ ...call, user: alice }, state))).result).toMatchObject(done);
  });

  test("has a mark kept for the whole time of a state, since the clock of another process may be behind", async () => {
    stopClock();
    const claims: [string, number][] = [];
    const singleUse = {
      claim: async (id: string, ttlMs: number) => claims.push([id, ttlMs]) > 0,
    };
    const say = await ways.http(askingServer({ singleUse, ttlMs: 5000 }).server);
    const state = await begin(say, call);
    passSeconds(3);
    await say(retry(call, state));
    expect(claims).toEqual([[expect.stringMatching(/^[\w-]{16}$/), 5000]]);
  });

  test("fails the call and leaves the state good when the store cannot tell", async () => {
    let isDown = true;
    const singleUse: SingleUseStore = {
      async claim() {
        if (isDown) throw new Error("redis://user:password@store is down");
        return true;
      },
    };
    const { server, finished, log } = askingServer({ singleUse });
    const say = await ways.http(server);
    const state = await begin(say, call);
    const { error } = await say(retry(call, state));
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Internal error \(error id/),
    });
    expect(JSON.stringify(error)).not.toContain("redis");
    expect(log.map(({ level }) => level)).toEqual(["error"]);
    expect(finished()).toBe(0);
    isDown = false;
    expect((await say(retry(call, state))).result).toMatchObject(done);
  });
});
