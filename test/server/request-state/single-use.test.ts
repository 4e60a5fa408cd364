// States that open once: in one process, and among the nodes of a cluster.
import { type JsonObject } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { describe, expect, test } from "vitest";
import { backplaneThat } from "../../support/backplane.ts";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { askingServer, begin, retry, type Turn, ways } from "../../support/asking-server.ts";

const call: Turn = { method: "tools/call", params: { name: "ask", arguments: { a: 1 } } };
const keys = ["a secret that both servers have, of 32 bytes"];
/** What the call comes to, and not one more question. */
const done = { resultType: "complete", content: [{ type: "text", text: "Hello Ada" }] };
const refusal = { code: -32602, message: "Invalid or expired requestState" };

describe("secureRequestState({ singleUse })", () => {
  test("opens a state once among the nodes of a cluster [MRTR-STATE-ONCE]", async () => {
    const options = { backplane: memoryBackplane() };
    const state = { keys, singleUse: true };
    const servers = [askingServer(state, options), askingServer(state, options)] as const;
    const [one, other] = [await ways.http(servers[0].server), await ways.http(servers[1].server)];
    const begun = await begin(one, call);
    expect((await other(retry(call, begun))).result).toMatchObject(done);
    expect((await one(retry(call, begun))).error).toEqual(refusal);
    expect((await other(retry(call, begun))).error).toEqual(refusal);
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

  test("does not use up a state that another caller sends", async () => {
    const { server } = askingServer({ singleUse: true });
    const say = await ways.http(server);
    const alice = { issuer: "https://issuer.example", subject: "alice" };
    const state = await begin(say, { ...call, user: alice });
    expect((await say(retry(call, state))).error).toEqual(refusal);
    expect((await say(retry({ ...call, user: alice }, state))).result).toMatchObject(done);
  });

  test("has a mark kept for the whole time of a state, since the clock of another node may be behind", async () => {
    stopClock();
    const marks: [string, number | undefined][] = [];
    const backplane = backplaneThat((engine) => ({
      create: (key, text, ttlMs) => {
        if (key.kind === "mark") marks.push([key.tag, ttlMs]);
        return engine.create(key, text, ttlMs);
      },
    }));
    const say = await ways.http(askingServer({ singleUse: true, ttlMs: 5000 }, { backplane }).server);
    const state = await begin(say, call);
    passSeconds(3);
    await say(retry(call, state));
    expect(marks).toEqual([[expect.stringMatching(/^used [\w-]{16}$/), 5000]]);
  });

  test("refuses to mark more than maxMarks, until marks are over", async () => {
    stopClock();
    const say = await ways.http(askingServer({ singleUse: true, maxMarks: 2, ttlMs: 60_000 }).server);
    const [one, two, three] = [await begin(say, call), await begin(say, call), await begin(say, call)];
    expect((await say(retry(call, one))).result).toMatchObject(done);
    expect((await say(retry(call, two))).result).toMatchObject(done);
    expect((await say(retry(call, three))).error).toMatchObject({ code: -32603 });
    expect((await say(retry(call, one))).error).toEqual(refusal);
    passSeconds(61);
    const four = await begin(say, call);
    expect((await say(retry(call, four))).result).toMatchObject(done);
  });

  test("fails the call and leaves the state good when the engine cannot tell", async () => {
    let isDown = true;
    const backplane = backplaneThat((engine) => ({
      create: async (key, text, ttlMs) => {
        if (isDown && key.kind === "mark") throw new Error("redis://user:password@store is down");
        return engine.create(key, text, ttlMs);
      },
    }));
    const { server, finished, log } = askingServer({ singleUse: true }, { backplane });
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
