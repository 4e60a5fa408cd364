// Request state works only for its own caller and its own call.
import { inputRequired, type JsonObject, type ServerOptions } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect } from "vitest";
import { makeServer, refusal } from "../../support/catalogue.ts";
import { passSeconds } from "../../support/clock.ts";
import { askingServer, nameForm } from "../../support/asking-server.ts";
import { type Door, type MountName, openDoor } from "../mounts.ts";
import type { Row } from "../row.ts";

const capabilities = { elicitation: { form: {} } };
const noRounds = { "HTTP+SSE": "is of a revision whose clients are asked, and carry nothing" } as const;
const noUsers = { ...noRounds, stdio: "has one client, whose process started the server" } as const;
const refused = { code: -32602, message: "Invalid or expired requestState" };

const connect = (door: Door, user?: string): Promise<TestClient> =>
  door.connect({ revision: "2026-07-28", capabilities, ...(user !== undefined && { user }) });

const ask: JsonObject = { name: "ask", arguments: { a: 1 } };
const inputResponses = { who: { action: "accept", content: { name: "Ada" } } };

async function begin(client: TestClient, params: JsonObject = ask): Promise<string> {
  return String((await client.request("tools/call", params))["requestState"]);
}

const retry = (client: TestClient, requestState: unknown, params: JsonObject = ask): Promise<JsonObject> =>
  client.request("tools/call", { ...params, inputResponses, requestState });

/** The call succeeds once. Every other attempt, by any caller, gets the same error. */
async function expectOneError(client: TestClient, states: readonly unknown[]): Promise<void> {
  for (const state of states) {
    const { code, message, data } = await refusal(retry(client, state));
    expect({ code, message, data }, JSON.stringify(state).slice(0, 50)).toEqual({
      ...refused,
      data: undefined,
    });
  }
}

/** Asks again in every round, in each of the ways that there are. */
function insatiable(options: ServerOptions) {
  const { server } = makeServer(options);
  let runs = 0;
  server.tool("insist", {}, () => {
    runs++;
    const params = { mode: "form", message: "Again?", requestedSchema: nameForm } as const;
    return inputRequired({ inputRequests: { again: { method: "elicitation/create", params } } });
  });
  return { server, runs: () => runs };
}

async function opened(mount: MountName, state = {}, options: ServerOptions = {}) {
  const asking = askingServer(state, options);
  const door = await openDoor(mount, asking.server);
  return { ...asking, door };
}

export const requestStateRows: readonly Row[] = [
  {
    over: "messages",
    name: "a state that was stolen from another user, or made by nobody, opens for neither",
    requirements: ["MRTR-STATE-BINDING"],
    leftOut: noUsers,
    async attack(mount) {
      const { door, finished } = await opened(mount);
      const [owner, thief, nobody] = [
        await connect(door, "owner"),
        await connect(door, "thief"),
        await connect(door),
      ];
      const state = await begin(owner);
      await expectOneError(thief, [state]);
      await expectOneError(nobody, [state]);
      await expectOneError(owner, [await begin(nobody)]);
      expect(finished()).toBe(0);
      await retry(owner, state);
      expect(finished()).toBe(1);
    },
  },
  {
    over: "messages",
    name: "a state is good for no other tool, method or arguments than its own",
    requirements: ["MRTR-STATE-BINDING"],
    leftOut: noRounds,
    async attack(mount) {
      const { door, finished } = await opened(mount);
      const client = await connect(door);
      const state = await begin(client);
      for (const params of [
        { name: "other", arguments: { a: 1 } },
        { name: "ask", arguments: { a: 2 } },
        { name: "ask", arguments: { a: "1" } },
        { name: "ask", arguments: { a: 1, b: null } },
        { name: "ask" },
      ])
        expect(await refusal(retry(client, state, params))).toMatchObject(refused);
      const prompt = client.request("prompts/get", { name: "ask", inputResponses, requestState: state });
      expect(await refusal(prompt)).toMatchObject(refused);
      expect(finished()).toBe(0);
      await retry(client, state);
    },
  },
  {
    over: "messages",
    name: "a state that was made up, cut, turned round or is none at all gets one error, whatever is wrong",
    requirements: ["MRTR-STATE-UNTRUSTED", "MRTR-STATE-INTEGRITY"],
    leftOut: noRounds,
    async attack(mount) {
      const { door, finished, reasons } = await opened(mount);
      const client = await connect(door);
      const state = await begin(client);
      const [version = "", keyId = "", body = ""] = state.split(".");
      const flip = (at: number): string =>
        `${version}.${keyId}.${body.slice(0, at)}${body[at] === "A" ? "B" : "A"}${body.slice(at + 1)}`;
      await expectOneError(client, [
        ...[0, 5, 20, 40, body.length - 30].map(flip),
        `${version}.${keyId}.`,
        `${version}.${keyId}.${body.slice(4)}`,
        `v0.${keyId}.${body}`,
        `${version}.__proto__.${body}`,
        `${state}.`,
        `${state}=`,
        ` ${state}`,
        "",
        "null",
        "\u0000",
        5,
        true,
        null,
        {},
        [state],
        { toString: 1 },
      ]);
      expect(reasons().length).toBeGreaterThan(20);
      expect(finished()).toBe(0);
      await retry(client, state);
    },
  },
  {
    over: "messages",
    name: "a state is over after its time",
    requirements: ["MRTR-STATE-BINDING"],
    limit: "ttlMs",
    leftOut: noRounds,
    async attack(mount) {
      const { door } = await opened(mount, { ttlMs: 5000 });
      const client = await connect(door);
      const state = await begin(client);
      passSeconds(5);
      await expectOneError(client, [state]);
    },
  },
  {
    over: "messages",
    name: "a state that is too long is not opened, and answers that would make one are not taken",
    limit: "maxBytes",
    leftOut: noRounds,
    async attack(mount) {
      const { server, door } = await opened(mount, { maxBytes: 2000 });
      server.tool("twice", {}, async (_, ctx) => {
        await ctx.elicit(
          "One?",
          { type: "object", properties: { name: { type: "string" } } },
          { key: "who" },
        );
        await ctx.elicit("Two?", nameForm, { key: "then" });
        return "both";
      });
      const client = await connect(door);
      await expectOneError(client, ["v1.x.".padEnd(2001, "A"), "A".repeat(1_000_000)]);
      const state = await begin(client, { name: "twice" });
      const huge = { who: { action: "accept", content: { name: "x".repeat(1_000_000) } } };
      const params = { name: "twice", inputResponses: huge, requestState: state };
      const { code, message } = await refusal(client.request("tools/call", params));
      expect(code).toBe(-32603);
      expect(message).toContain("raise maxBytes of secureRequestState");
    },
  },
  {
    over: "messages",
    name: "a state that may be used once is used once, and where no use can be marked no more are taken",
    requirements: ["MRTR-STATE-ONCE"],
    limit: "maxMarks",
    leftOut: noRounds,
    async attack(mount) {
      const { door, finished } = await opened(mount, { singleUse: true, maxMarks: 2 });
      const client = await connect(door);
      const states = [await begin(client), await begin(client), await begin(client)];
      await retry(client, states[0]);
      await expectOneError(client, [states[0], states[0]]);
      const raced = await Promise.allSettled([retry(client, states[1]), retry(client, states[1])]);
      expect(raced.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect(await refusal(retry(client, states[2]))).toMatchObject({ code: -32603 });
      expect(finished()).toBe(2);
    },
  },
  {
    over: "messages",
    name: "a client that answers without end comes to an end",
    limit: "limits.maxRounds",
    leftOut: { "HTTP+SSE": "is of a revision without elicitation" },
    async attack(mount) {
      const { server, runs } = insatiable({ limits: { maxRounds: 3 } });
      const door = await openDoor(mount, server);
      const modern = await connect(door);
      const answers = { again: inputResponses.who };
      let params: JsonObject = { name: "insist" };
      for (let round = 0; round < 3; round++) {
        const { requestState } = await modern.request("tools/call", params);
        params = { name: "insist", inputResponses: answers, requestState };
      }
      expect(await refusal(modern.request("tools/call", params))).toMatchObject({ code: -32603 });
      expect(runs()).toBe(4);
      const legacy = await door.connect({ revision: "2025-11-25", capabilities });
      const answered = new Set<unknown>();
      const outcome = refusal(legacy.request("tools/call", { name: "insist" }, { id: "insist" }));
      for (let round = 0; round < 3; round++) {
        const question = await legacy.waitFor(
          (message) => "method" in message && "id" in message && !answered.has(message.id),
        );
        const { id } = question as unknown as { id: unknown };
        answered.add(id);
        legacy.send({ jsonrpc: "2.0", id, result: inputResponses.who });
      }
      expect(await outcome).toMatchObject({ code: -32603 });
      expect(runs()).toBe(8);
    },
  },
  {
    over: "messages",
    name: "answers under the names of what every object has, or in no shape at all, are no answers",
    requirements: ["MRTR-VALIDATE", "MRTR-MISSING-REASK"],
    leftOut: noRounds,
    async attack(mount) {
      const { server, door } = await opened(mount);
      let asked = 0;
      for (const key of ["constructor", "__proto__", "toString"])
        server.tool(`key-${key}`, {}, async (_, ctx) => {
          asked++;
          return JSON.stringify(await ctx.elicit("Who?", nameForm, { key }));
        });
      const client = await connect(door);
      for (const key of ["constructor", "__proto__", "toString"]) {
        const name = `key-${key}`;
        const state = await begin(client, { name });
        const again = await client.request("tools/call", { name, inputResponses: {}, requestState: state });
        expect(again, key).toMatchObject({ resultType: "input_required" });
        const named = JSON.parse(
          `{${JSON.stringify(key)}:${JSON.stringify(inputResponses.who)}}`,
        ) as JsonObject;
        const params = { name, inputResponses: named, requestState: again["requestState"] };
        expect(await client.request("tools/call", params)).toMatchObject({
          content: [{ text: '{"name":"Ada"}' }],
        });
      }
      expect(asked).toBe(9);
      for (const wrong of [[], "who", 5, null, { who: 1 }, { who: null }, { who: [] }])
        expect(await refusal(client.request("tools/call", { ...ask, inputResponses: wrong }))).toMatchObject({
          code: -32602,
        });
    },
  },
];
