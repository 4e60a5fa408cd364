// The keys of request state: which are taken, how they are changed, and what several processes must have in common.
import { ConfigurationError, McpServer, type RequestStateOptions } from "halyard";
import { describe, expect, test } from "vitest";
import { askingServer, begin, retry, type Turn, ways } from "../../support/asking-server.ts";

const call: Turn = { method: "tools/call", params: { name: "ask", arguments: { a: 1 } } };
const [older, newer] = ["the older secret, of 32 bytes or more", "the newer secret, of 32 bytes or more"];

/** Whether a server with the options `opening` continues a call that a server with the options `sealing` began. */
async function opens(sealing: RequestStateOptions, opening: RequestStateOptions): Promise<boolean> {
  const state = await begin(await ways.http(askingServer(sealing).server), call);
  const { result } = await (await ways.http(askingServer(opening).server))(retry(call, state));
  return result !== undefined;
}

describe("server.secureRequestState", () => {
  test.each([
    [{ keys: [] }, "keys", "empty"],
    [{ keys: ["x".repeat(31)] }, "keys", "less than 32 bytes"],
    [{ keys: [newer, new Uint8Array(31)] }, "keys", "less than 32 bytes"],
    [{ keys: [64] }, "keys[0]", "must be a string or a Uint8Array"],
    [{ keys: [newer, null] }, "keys[1]", "must be a string or a Uint8Array"],
    [
      { keys: [undefined] },
      "keys[0]",
      "secureRequestState: keys[0] is undefined: is the environment variable set?",
    ],
    [{ keys: newer }, "keys", "a list of strings or Uint8Arrays"],
    [{ keys: new Uint8Array(32).fill(64) }, "keys", "a list of strings or Uint8Arrays"],
    [{ key: newer }, "key", "not an option"],
    [{ ttlMs: 0 }, "ttlMs", "a whole number of milliseconds"],
    [{ ttlMs: Number.NaN }, "ttlMs", "a whole number of milliseconds"],
    [{ maxBytes: Number.POSITIVE_INFINITY }, "maxBytes", "positive integer"],
    [{ audience: 7 }, "audience", "a text"],
    [{ singleUse: "yes" }, "singleUse", "true or false"],
    [{ singleUse: { claim: async () => true } }, "singleUse", "true or false"],
    [{ maxMarks: 0 }, "maxMarks", "positive integer"],
  ])("refuses %j at once, and names the option", (options, field, problem) => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const configure = (): unknown => server.secureRequestState(options as unknown as RequestStateOptions);
    expect(configure).toThrow(ConfigurationError);
    expect(configure).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(configure).toThrow(field);
    expect(configure).toThrow(problem);
  });

  test("takes secrets of 32 bytes, as text or bytes", () => {
    const keys = ["x".repeat(32), "ü".repeat(16), new Uint8Array(32), Buffer.alloc(32)];
    expect(() =>
      new McpServer({ name: "test", version: "1.0.0" }).secureRequestState({ keys }),
    ).not.toThrow();
  });

  test("keeps a secret though the buffer that it came in is wiped", async () => {
    const given = Buffer.from(newer);
    const sealing = askingServer({ keys: [given] });
    given.fill(0);
    const state = await begin(await ways.http(sealing.server), call);
    const { result } = await (await ways.http(askingServer({ keys: [newer] }).server))(retry(call, state));
    expect(result).toMatchObject({ content: [{ text: "Hello Ada" }] });
  });

  test("replaces what was set before, the audience too", async () => {
    const { server } = askingServer({ keys: [older], audience: "one" });
    server.secureRequestState({ keys: [newer] });
    const state = await begin(await ways.http(server), call);
    const { result } = await (await ways.http(askingServer({ keys: [newer] }).server))(retry(call, state));
    expect(result).toMatchObject({ content: [{ text: "Hello Ada" }] });
  });
});

describe("keys of request state", () => {
  test.each<[string, RequestStateOptions, RequestStateOptions, boolean]>([
    ["the same key and audience", { keys: [newer] }, { keys: [newer] }, true],
    ["text and bytes of the same key", { keys: [newer] }, { keys: [Buffer.from(newer)] }, true],
    ["an older key while it is in the ring", { keys: [older] }, { keys: [newer, older] }, true],
    ["a newer key that the ring has for opening already", { keys: [newer] }, { keys: [older, newer] }, true],
    ["an older key that has been taken out", { keys: [older] }, { keys: [newer] }, false],
    ["keys made by each process for itself", {}, {}, false],
    [
      "an audience for each process",
      { keys: [newer], audience: "pod-1" },
      { keys: [newer], audience: "pod-2" },
      false,
    ],
  ])("of two processes: %s", async (_, sealing, opening, expected) => {
    expect(await opens(sealing, opening)).toBe(expected);
  });

  test("seals with the first of the ring", async () => {
    expect(await opens({ keys: [newer, older] }, { keys: [newer] })).toBe(true);
    expect(await opens({ keys: [newer, older] }, { keys: [older] })).toBe(false);
  });

  test("are made once, and seal every call that comes meanwhile", async () => {
    const say = await ways.memory(askingServer().server);
    const states: Promise<string>[] = [];
    for (let turn = 0; turn < 100; turn++) {
      states.push(begin(say, call));
      await Promise.resolve();
    }
    const keys = (await Promise.all(states)).map((state) => state.split(".")[1]);
    expect(new Set(keys).size).toBe(1);
  });
});
