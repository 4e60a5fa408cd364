// Request state: keys open what they sealed, and a state that is for one use opens once.
import type { RequestStateOptions } from "halyard";
import { expect, test } from "vitest";
import { askingServer, begin, retry, type Turn, ways } from "../support/asking-server.ts";
import { contract, optionsOn } from "./columns.ts";

const call: Turn = { method: "tools/call", params: { name: "ask", arguments: { a: 1 } } };
const done = { resultType: "complete", content: [{ type: "text", text: "Hello Ada" }] };
const refusal = { code: -32602, message: "Invalid or expired requestState" };
const key = "a secret that servers share, of 32 bytes";
const later = "the next secret that servers share, of 32 bytes";

contract("request state", (column) => {
  const keys: readonly [string, RequestStateOptions][] = [
    ["the server has made", {}],
    ["were configured", { keys: [key] }],
  ];

  test.each(keys)("is opened by the keys that sealed it, if %s [MRTR-STATE-ONCE]", async (_, state) => {
    const { server, finished } = askingServer(state, optionsOn(column));
    const say = await ways.http(server);
    const sealed = await begin(say, call);
    for (let round = 1; round <= 2; round++) {
      expect((await say(retry(call, sealed))).result).toMatchObject(done);
      expect(finished()).toBe(round);
    }
    const [version, , body] = sealed.split(".");
    expect((await say(retry(call, [version, "AAAAAA", body].join(".")))).error).toEqual(refusal);
    expect((await say(retry(call, `${sealed}x`))).error).toEqual(refusal);
  });

  test("is opened after a change of keys by a server that still has the old one", async () => {
    const before = await ways.http(askingServer({ keys: [key] }, optionsOn(column)).server);
    const sealed = await begin(before, call);
    const after = await ways.http(askingServer({ keys: [later, key] }, optionsOn(column)).server);
    expect((await after(retry(call, sealed))).result).toMatchObject(done);
  });

  test("for one use is opened once, also if it is brought many times at once [MRTR-STATE-ONCE]", async () => {
    const { server, finished } = askingServer({ singleUse: true }, optionsOn(column));
    const say = await ways.http(server);
    const sealed = await begin(say, call);
    const replies = await Promise.all(Array.from({ length: 5 }, () => say(retry(call, sealed))));
    expect(replies.filter(({ result }) => result !== undefined)).toMatchObject([{ result: done }]);
    expect((await say(retry(call, sealed))).error).toEqual(refusal);
    expect(finished()).toBe(1);
    const next = await begin(say, call);
    expect((await say(retry(call, next))).result).toMatchObject(done);
  });

  test("for one use is not used up by another principal", async () => {
    const say = await ways.http(askingServer({ singleUse: true }, optionsOn(column)).server);
    const user = { issuer: "https://issuer.example", subject: "alice" };
    const sealed = await begin(say, { ...call, user });
    expect((await say(retry(call, sealed))).error).toEqual(refusal);
    expect((await say(retry({ ...call, user }, sealed))).result).toMatchObject(done);
  });
});
