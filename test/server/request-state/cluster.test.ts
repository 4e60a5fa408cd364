// Rounds of a call on several nodes: whichever keys they have, a round that begins on one ends on another.
import { type RequestStateOptions, type ServerOptions } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { portOf } from "halyard/transport";
import { describe, expect, test } from "vitest";
import {
  type AskingServer,
  askingServer,
  begin,
  retry,
  type Say,
  type Turn,
  ways,
} from "../../support/asking-server.ts";
import { backplaneThat, type Forgetful, forgetfulBackplane, join } from "../../support/backplane.ts";
import { passSeconds, stopClock } from "../../support/clock.ts";
import { until } from "../../support/turns.ts";

const call: Turn = { method: "tools/call", params: { name: "ask", arguments: { a: 1 } } };
const done = { resultType: "complete", content: [{ type: "text", text: "Hello Ada" }] };
const refusal = { code: -32602, message: "Invalid or expired requestState" };
const [older, newer] = ["the older secret, of 32 bytes or more", "the newer secret, of 32 bytes or more"];
const day = 24 * 3600;

async function nodeOf(
  options: ServerOptions,
  state: RequestStateOptions = {},
): Promise<AskingServer & { say: Say }> {
  const made = askingServer(state, options);
  await join(made.server);
  return { ...made, say: await ways.memory(made.server) };
}

describe("a round that begins on one node", () => {
  test.each<[string, { secret?: string }, RequestStateOptions]>([
    ["made by the nodes", {}, {}],
    ["derived from the secret of the backplane", { secret: newer }, {}],
    ["configured", {}, { keys: [newer] }],
  ])("ends on another, with keys that are %s", async (_, options, state) => {
    const backplane = memoryBackplane(options);
    const [one, other] = [await nodeOf({ backplane }, state), await nodeOf({ backplane }, state)];
    const begun = await begin(one.say, call);
    expect((await other.say(retry(call, begun))).result).toMatchObject(done);
    const third = await nodeOf({ backplane }, state);
    expect((await third.say(retry(call, begun))).result).toMatchObject(done);
  });

  test("ends on one that joins at the same moment: only one key is made", async () => {
    const backplane = memoryBackplane();
    const nodes = await Promise.all(Array.from({ length: 5 }, () => nodeOf({ backplane })));
    for (const { say } of nodes) {
      const begun = await begin(say, call);
      for (const other of nodes) expect((await other.say(retry(call, begun))).result).toMatchObject(done);
    }
  });

  test("ends after the nodes have made a new key, which seals from then on", async () => {
    stopClock();
    const backplane = memoryBackplane();
    const state = { ttlMs: 2 * day * 1000 };
    const [one, other] = [await nodeOf({ backplane }, state), await nodeOf({ backplane }, state)];
    const before = await begin(one.say, call);
    passSeconds(day + 1);
    const keyOf = (sealed: string): string | undefined => sealed.split(".")[1];
    await until(async () => keyOf(await begin(one.say, call)) !== keyOf(before));
    const after = await begin(one.say, call);
    for (const { say } of [one, other]) {
      expect((await say(retry(call, before))).result).toMatchObject(done);
      expect((await say(retry(call, after))).result).toMatchObject(done);
    }
  });

  test("does not end after its key was dropped, for ttlMs were over", async () => {
    stopClock();
    const keys: string[] = [];
    const backplane = backplaneThat((engine) => ({
      replace: (key, text, ttlMs, version) => {
        if (key.kind === "key" && text.includes("secret")) keys.push(text);
        return engine.replace(key, text, ttlMs, version);
      },
    }));
    const { say } = await nodeOf({ backplane });
    for (let rotation = 1; rotation <= 3; rotation++) {
      passSeconds(day + 1);
      await until(async () => (await begin(say, call)) !== "" && keys.length === rotation);
    }
    expect((JSON.parse(keys.at(-1) ?? "") as { keys: unknown[] }).keys).toHaveLength(2);
  });

  test("ends after the engine has lost its data, also on a node that joins then", async () => {
    const { backplane, loseEverything }: Forgetful = forgetfulBackplane();
    const [one, other] = [await nodeOf({ backplane }), await nodeOf({ backplane })];
    const begun = await begin(one.say, call);
    await loseEverything();
    expect((await other.say(retry(call, begun))).result).toMatchObject(done);
    const third = await nodeOf({ backplane });
    expect((await third.say(retry(call, begun))).result).toMatchObject(done);
    const next = await begin(third.say, call);
    expect((await one.say(retry(call, next))).result).toMatchObject(done);
  });

  test("ends while the engine is away", async () => {
    let isDown = false;
    const refuse = (): Promise<never> => Promise.reject(new Error("down"));
    const backplane = backplaneThat((engine) => ({
      get: (key) => (isDown ? refuse() : engine.get(key)),
      send: (to, text) => (isDown ? refuse() : engine.send(to, text)),
    }));
    const [one, other] = [await nodeOf({ backplane }), await nodeOf({ backplane })];
    isDown = true;
    const begun = await begin(one.say, call);
    expect((await other.say(retry(call, begun))).result).toMatchObject(done);
  });

  test("is refused with a key that no node has, and nothing of the keys is logged", async () => {
    const texts: string[] = [];
    const backplane = backplaneThat((engine) => ({
      create: (key, text, ttlMs) => (texts.push(text), engine.create(key, text, ttlMs)),
    }));
    const { say, log } = await nodeOf({ backplane });
    const [version, , body] = (await begin(say, call)).split(".");
    expect((await say(retry(call, [version, "AAAAAA", body].join(".")))).error).toEqual(refusal);
    const stored = texts
      .map((text) => /"secret":"([^"]+)"/.exec(text)?.[1])
      .find((secret) => secret !== undefined);
    expect(stored).toBeDefined();
    expect(JSON.stringify(log)).not.toContain(stored);
  });
});

describe("a node whose keys differ from those of the running ones", () => {
  /** Whether a node can join. */
  async function joins(backplane: ServerOptions["backplane"], state: RequestStateOptions): Promise<unknown> {
    const { server } = askingServer(state, backplane ? { backplane } : {});
    return join(server).then(
      () => "joined",
      (error: unknown) => error,
    );
  }

  test.each<[string, RequestStateOptions, RequestStateOptions, string]>([
    ["other keys", { keys: [older] }, { keys: [newer] }, "no key in common"],
    ["keys, and they have none", {}, { keys: [newer] }, "no key in common"],
    ["no keys, and they have some", { keys: [older] }, {}, "is missing"],
  ])("does not join with %s", async (_, running, joining, problem) => {
    const backplane = memoryBackplane();
    await nodeOf({ backplane }, running);
    expect(await joins(backplane, joining)).toMatchObject({
      code: "INVALID_OPTION",
      subject: "secureRequestState",
      message: expect.stringContaining(problem),
    });
  });

  test("joins with a key in common, so that keys can be changed", async () => {
    const backplane = memoryBackplane();
    await nodeOf({ backplane }, { keys: [older] });
    expect(await joins(backplane, { keys: [newer, older] })).toBe("joined");
  });

  test("joins when the others have stopped", async () => {
    const backplane = memoryBackplane();
    const { server } = askingServer({ keys: [older] }, { backplane });
    await portOf(server).cluster?.join();
    await portOf(server).cluster?.leave();
    expect(await joins(backplane, { keys: [newer] })).toBe("joined");
  });
});
