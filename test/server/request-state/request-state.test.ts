// Sealed request state as an attacker tries it: whatever is wrong with a state, the client learns the same nothing.
import type { JsonObject, McpServer, RequestStateOptions } from "halyard";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readTable } from "../../support/documents.ts";
import { modernRequest, newestModern, RawPeer } from "../../support/raw.ts";
import {
  askingServer,
  begin,
  nameForm,
  type Reply,
  retry,
  type Say,
  type Turn,
  wayNames,
  ways,
} from "../../support/asking-server.ts";

const ours = "our secret, which is at least 32 bytes long";
const theirs = "their secret, which is at least 32 bytes long";
const alice = { issuer: "https://issuer.example", subject: "alice" };
const args = { a: "1", b: "2" };
const call: Turn = { method: "tools/call", params: { name: "ask", arguments: args } };
const ttlMs = 15 * 60_000;

const refusal = { code: -32602, message: "Invalid or expired requestState" };
const unsealed = "it was changed, or sealed with an unknown key";

interface Attack {
  /** What the log says of it. */
  readonly reason: string;
  /** The call that the state comes from. @default {call} */
  readonly from?: Turn;
  /** What is tried with it. */
  readonly attempt: (state: string, say: Say) => Turn | Promise<Turn>;
  readonly before?: (say: Say, state: string) => unknown;
  readonly options?: RequestStateOptions;
  /** How the server is set that gets the attempt. @default {as the one that sealed} */
  readonly openedBy?: RequestStateOptions;
}

/** Sends `state` changed in some way. */
function changed(change: (state: string) => unknown, reason: string = unsealed): Attack {
  return { reason, attempt: (state) => retry(call, change(state)) };
}

/** Sends the state with another request. */
function elsewhere(to: Turn, reason: string, from: Turn = call): Attack {
  return { reason, from, attempt: (state) => retry(to, state) };
}

const target = "it belongs to another tool, prompt or resource";
const otherArguments = "it belongs to other arguments, or a handler or middleware changed them";
const prompt = { method: "prompts/get", params: { name: "ask", arguments: args } };
const resource = { method: "resources/read", params: { uri: "note:///ask" } };
const withArguments = (given: unknown): Turn => ({ ...call, params: { name: "ask", arguments: given } });

/** States that no server has sealed, or none that shares a key with this one. */
const forged: Readonly<Record<string, Attack>> = {
  "another version": changed((state) => state.replace(/^v1/, "v2")),
  "a changed key id": changed((state) => state.replace(/\.(.)/, (_, first) => (first === "A" ? ".B" : ".A"))),
  "a changed first byte of the iv": changed((state) => flipped(state, 0)),
  "a changed last byte of the iv": changed((state) => flipped(state, 11)),
  "a changed first byte of the text": changed((state) => flipped(state, 12)),
  "a changed byte amid the text": changed((state) => flipped(state, 60)),
  "a changed first byte of the tag": changed((state) => flipped(state, -16)),
  "a changed last byte of the tag": changed((state) => flipped(state, -1)),
  "the last character cut off": changed((state) => state.slice(0, -1)),
  "the second half cut off": changed((state) => state.slice(0, state.length / 2)),
  "nothing but the iv and the tag": changed((state) => state.slice(0, 12 + Math.ceil((28 * 4) / 3))),
  "nothing but its head": changed((state) => state.split(".").slice(0, 2).join(".")),
  "an empty body": changed((state) => `${state.split(".").slice(0, 2).join(".")}.`),
  "the empty string": changed(() => ""),
  "one more part": changed((state) => `${state}.`),
  "one more byte": changed((state) => `${state}AAAA`),
  "a number": changed(() => 7, "it is not a string"),
  null: changed(() => null, "it is not a string"),
  "an object": changed((state) => ({ state, toString: 1 }), "it is not a string"),
  "a list": changed((state) => [state], "it is not a string"),
  "a text that is too long": changed((state) => state.padEnd(65_537, "A"), "it is too long"),
  "characters outside the alphabet": changed((state) => `${state.slice(0, -4)}ü€𝄞`),
  "white space inside": changed((state) => `${state.slice(0, -8)} \n${state.slice(-8)}`),
  padding: changed((state) => `${state}=`),
  "the alphabet of plain base64": changed((state) => state.replaceAll("-", "+").replaceAll("_", "/")),
  "one of another server's key": {
    ...changed((state) => state),
    options: { keys: [theirs] },
    openedBy: { keys: [ours] },
  },
  "one of a process with a key of its own": { ...changed((state) => state), openedBy: {} },
  "one of a key that has been taken out of the ring": {
    ...changed((state) => state),
    options: { keys: [theirs] },
    openedBy: { keys: [ours, `new ${ours}`] },
  },
  "one of another key, under the id of ours": {
    reason: unsealed,
    options: { keys: [theirs] },
    openedBy: { keys: [ours, theirs] },
    attempt: async (state, say) => {
      const ourHead = (await begin(say, call)).split(".").slice(0, 2);
      return retry(call, [...ourHead, state.split(".")[2]].join("."));
    },
  },
};

/** States of this server, brought with something else than what they belong to. */
const misused: Readonly<Record<string, Attack>> = {
  "another user": elsewhere(
    { ...call, user: { ...alice, subject: "mallory" } },
    "it belongs to another user",
    { ...call, user: alice },
  ),
  "the same subject of another issuer": elsewhere(
    { ...call, user: { ...alice, issuer: "https://other.example" } },
    "it belongs to another user",
    { ...call, user: alice },
  ),
  "an issuer that takes letters of the subject": elsewhere(
    { ...call, user: { issuer: `${alice.issuer}a`, subject: "lice" } },
    "it belongs to another user",
    { ...call, user: alice },
  ),
  "nobody, with the state of somebody": elsewhere(call, "it belongs to another user", {
    ...call,
    user: alice,
  }),
  "somebody, with the state of nobody": elsewhere({ ...call, user: alice }, "it belongs to another user"),
  "another tool": elsewhere({ ...call, params: { ...call.params, name: "other" } }, target),
  "a tool that does not exist": elsewhere({ ...call, params: { ...call.params, name: "nothing" } }, target),
  "another prompt": elsewhere({ ...prompt, params: { ...prompt.params, name: "other" } }, target, prompt),
  "another resource": elsewhere({ ...resource, params: { uri: "note:///other" } }, target, resource),
  "the prompt of the same name": elsewhere(prompt, "it belongs to another method"),
  "the tool of the same name": elsewhere(call, "it belongs to another method", prompt),
  "a resource": elsewhere(resource, "it belongs to another method"),
  "another argument": elsewhere(withArguments({ a: "1", b: "3" }), otherArguments),
  "one more argument": elsewhere(withArguments({ ...args, __proto__x: 1 }), otherArguments),
  "an argument less": elsewhere(withArguments({ a: "1" }), otherArguments),
  "an argument of another type": elsewhere(withArguments({ a: 1, b: "2" }), otherArguments),
  "no arguments": elsewhere(withArguments(undefined), otherArguments),
  "null for no arguments": elsewhere(withArguments(null), otherArguments, withArguments(undefined)),
  "an expired one": {
    ...changed((state) => state, "it has expired"),
    before: () => vi.setSystemTime(Date.now() + ttlMs),
  },
  "one of another audience": {
    ...changed((state) => state, "it has another audience"),
    options: { keys: [ours], audience: "pod-1" },
    openedBy: { keys: [ours], audience: "pod-2" },
  },
};

/** States that have done their service. */
const used: Readonly<Record<string, Attack>> = {
  "one that was used, with single use": {
    ...changed((state) => state, "it was already used"),
    options: { singleUse: true },
    before: async (say, state) => expect(greetingOf(await say(retry(call, state)))).toBe("Hello Ada"),
  },
};

function bodyOf(state: string): Buffer {
  return Buffer.from(state.split(".")[2] ?? "", "base64url");
}

/** A state with one bit of that byte changed. */
function flipped(state: string, at: number): string {
  const [version, keyId] = state.split(".");
  const bytes = bodyOf(state);
  const index = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
  return `${version}.${keyId}.${bytes.toString("base64url")}`;
}

function greetingOf({ result }: Reply): unknown {
  const [content] = (result?.["content"] ?? []) as { text?: string }[];
  return content?.text;
}

async function expectRefused(way: keyof typeof ways, attack: Attack): Promise<void> {
  const { reason, from = call, attempt, before, options = {}, openedBy } = attack;
  const sealing = askingServer(options);
  const opening = openedBy === undefined ? sealing : askingServer(openedBy);
  const say = await ways[way](sealing.server);
  const sayThere = openedBy === undefined ? say : await ways[way](opening.server);
  const state = await begin(say, from);
  await before?.(say, state);
  const finished = opening.finished();
  const { status, ...answer } = await sayThere(await attempt(state, sayThere));
  expect(answer).toEqual({ jsonrpc: "2.0", id: 1, error: refusal });
  expect(status).toBe(way === "http" ? 200 : undefined);
  expect(opening.reasons()).toEqual([reason]);
  expect(opening.finished()).toBe(finished);
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

describe.each(wayNames)("a request state over %s", (way) => {
  const open = (server: McpServer): Promise<Say> => ways[way](server);

  test.each(Object.entries(forged))(
    "that was not sealed here is refused in the same words, and the log says why: %s [MRTR-STATE-UNTRUSTED, MRTR-STATE-INTEGRITY]",
    (_, attack) => expectRefused(way, attack),
  );

  test.each(Object.entries(misused))(
    "that belongs elsewhere is refused in the same words, and the log says why: %s [MRTR-STATE-BINDING]",
    (_, attack) => expectRefused(way, attack),
  );

  test.each(Object.entries(used))(
    "that has been used is refused in the same words, and the log says why: %s [MRTR-STATE-ONCE]",
    (_, attack) => expectRefused(way, attack),
  );

  test.each([call, prompt, resource, { ...call, user: alice }])(
    "opens for the request that it belongs to, until the last millisecond: $method $user.subject",
    async (turn) => {
      const { server, finished, log } = askingServer();
      const say = await open(server);
      const state = await begin(say, turn);
      vi.setSystemTime(Date.now() + ttlMs - 1);
      const { result } = await say(retry(turn, state));
      expect(result?.["resultType"]).toBe("complete");
      expect(JSON.stringify(result)).toContain("Hello Ada");
      expect(finished()).toBe(1);
      expect(log).toEqual([]);
    },
  );

  test("opens for the same arguments with their members in another order", async () => {
    const say = await open(askingServer().server);
    const nested = (given: unknown): Turn =>
      withArguments({ x: [{ a: 1, b: { c: null, d: "" } }], y: given });
    const state = await begin(say, nested({ first: 1, "2": 2 }));
    const reordered = { y: { "2": 2, first: 1 }, x: [{ b: { d: "", c: null }, a: 1 }] };
    expect(greetingOf(await say(retry(withArguments(reordered), state)))).toBe("Hello Ada");
  });

  test("opens for empty arguments where there were none", async () => {
    const say = await open(askingServer().server);
    const state = await begin(say, withArguments(undefined));
    expect(greetingOf(await say(retry(withArguments({}), state)))).toBe("Hello Ada");
  });

  test("opens more than once, unless single use is on", async () => {
    const say = await open(askingServer().server);
    const state = await begin(say, call);
    for (let use = 0; use < 3; use++) expect(greetingOf(await say(retry(call, state)))).toBe("Hello Ada");
  });

  test("is refused where bits are set that base64url does not count [MRTR-STATE-INTEGRITY]", async () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const answers: unknown[] = [];
    for (const audience of ["a", "ab", "abc"]) {
      const { server } = askingServer({ audience });
      const say = await open(server);
      const state = await begin(say, call);
      const last = alphabet.indexOf(state.slice(-1));
      const other = state.slice(0, -1) + alphabet.charAt(last ^ 1);
      if (bodyOf(other).equals(bodyOf(state))) answers.push((await say(retry(call, other))).error);
    }
    expect(answers).toEqual([refusal, refusal]);
  });
});

test("a request state shows nothing of what it holds [MRTR-STATE-INTEGRITY]", async () => {
  const { server } = askingServer({ audience: "our-audience" });
  const say = await ways.http(server);
  const secret = "a-secret-that-nobody-may-read";
  const params = { name: "keep", arguments: { state: secret } };
  const turn = { method: "tools/call", params, user: alice };
  const states = [await begin(say, turn), await begin(say, turn)];
  for (const state of states) {
    const bytes = bodyOf(state).toString("latin1");
    for (const hidden of [secret, "keep", "alice", "issuer", "our-audience", "tools/call"]) {
      expect(`${state} ${bytes}`).not.toContain(hidden);
    }
  }
  expect(states[0]?.slice(-40)).not.toBe(states[1]?.slice(-40));
  expect(greetingOf(await say(retry(turn, states[0])))).toBe(JSON.stringify({ kept: secret }));
});

test("a request state that is refused leaves a short line in the log, whatever the request names", async () => {
  const { server, log } = askingServer();
  const say = await ways.memory(server);
  for (const name of ["x".repeat(100_000), { toString: 1 }]) {
    const { error } = await say(retry({ ...call, params: { name } }, "v1.none.none"));
    expect(error).toEqual(refusal);
  }
  expect(log.map(({ message, details }) => JSON.stringify([message, details]).length < 500)).toEqual([
    true,
    true,
  ]);
  expect(log.map(({ level }) => level)).toEqual(["warn", "warn"]);
});

test("a request state of a number too large for JSON does not open for null", async () => {
  const { server, reasons } = askingServer();
  const say = await ways.memory(server);
  const state = await begin(say, withArguments({ a: null }));
  const turn = JSON.stringify(modernRequest(1, "tools/call", retry(withArguments({ a: 0 }), state).params));
  const answer = await new RawPeer(server, newestModern).sayText(turn.replace('{"a":0}', '{"a":1e400}'));
  expect(answer?.error).toEqual(refusal);
  expect(reasons()).toEqual([otherArguments]);
});

test("an answer in a request state is not used for a question that has changed meanwhile", async () => {
  const { server } = askingServer();
  let question = "Delete one?";
  const form = { type: "object", properties: {} } as const;
  server.tool("delete", {}, async (_, ctx) => {
    await ctx.elicit(question, form, { key: "who" });
    return `Yes: ${question}`;
  });
  const say = await ways.http(server);
  const turn = { method: "tools/call", params: { name: "delete" } };
  const state = await begin(say, turn);
  question = "Delete everything?";
  const { result } = await say(retry(turn, state));
  expect(result).toMatchObject({
    resultType: "input_required",
    inputRequests: { who: { params: { message: "Delete everything?" } } },
  });
});

test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
  "a request state keeps answers and results under the key %s",
  async (key) => {
    const { server } = askingServer();
    let runs = 0;
    server.tool("keys", {}, async (_, ctx) => {
      const done = await ctx.once(key, () => ++runs);
      const { name } = await ctx.elicit("Who?", nameForm, { key });
      const { name: last } = await ctx.elicit("And who?", nameForm, { key: "last" });
      return JSON.stringify([done, name, last]);
    });
    const say = await ways.http(server);
    const turn = { method: "tools/call", params: { name: "keys" } };
    const answer = (name: string): JsonObject => ({ action: "accept", content: { name } });
    // As JSON has it: a member of its own, not a prototype.
    const first = JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(answer("Ada"))}}`) as JsonObject;
    const again = (inputResponses: JsonObject, requestState: string): Turn => ({
      ...turn,
      params: { ...turn.params, inputResponses, requestState },
    });
    const second = await begin(say, again(first, await begin(say, turn)));
    const last = await say(again({ last: answer("Bob") }, second));
    expect(greetingOf(last)).toBe(JSON.stringify([1, "Ada", "Bob"]));
  },
);

test("a request state that grows past maxBytes fails the call, and the message names the option", async () => {
  const { server } = askingServer({ maxBytes: 2000 });
  const say = await ways.http(server);
  const turn = (size: number): Turn => ({
    method: "tools/call",
    params: { name: "keep", arguments: { state: "x".repeat(size) } },
  });
  expect((await begin(say, turn(1000))).length).toBeLessThanOrEqual(2000);
  const { error, result } = await say(turn(1500));
  expect(JSON.stringify(error ?? result)).toMatch(
    /takes \d+ bytes, more than 2000: .*maxBytes of secureRequestState/,
  );
});

test("docs/guides/request-state.md explains every reason for which a request state is refused", () => {
  const rows = readTable("docs/guides/request-state.md", "When a retry is refused");
  const explained = rows.flatMap((row) => (row["reason in the log"] ?? "").split("; "));
  const reasons = [forged, misused, used].flatMap((attacks) =>
    Object.values(attacks).map(({ reason }) => reason),
  );
  expect(new Set(explained)).toEqual(new Set(reasons));
});
