// A server asks the official clients something, over stdio and through every mount.
import { describe, expect, test } from "vitest";
import { eventually } from "../support/turns.ts";
import { connected, rowsOf } from "./rows.ts";
import { ways } from "./ways.ts";

const rows = rowsOf(ways);
const legacyRows = rows.filter(({ era }) => era === "legacy");
const modernRows = rows.filter(({ era }) => era === "modern");
const page = "https://example.com/connect";

describe.each(rows)("$name over $way", (row) => {
  const { client, newlyAsked } = connected(row, "asking");

  test("ctx.tryElicit tells what the user did; ctx.elicit ends the call with a result that says so [ELIC-SERVER-HANDLE]", async () => {
    expect(await client().call("refused")).toMatchObject({ content: [{ text: "decline, cancel" }] });
    expect(await client().call("unanswered")).toMatchObject({
      content: [{ text: expect.stringContaining("The user declined to answer: Decline this, too") }],
    });
    expect(newlyAsked()).toHaveLength(3);
  });

  test("a prompt and a resource ask one question after the other [PROMPT-MRTR, RES-READ-MRTR]", async () => {
    expect(await client().prompt("brief", {})).toEqual({ type: "text", text: "Write to Ada about a shoe" });
    expect(await client().read("secret:///diary")).toBe("The diary of Ada, in file:///home");
    const methods = ["elicitation/create", "sampling/createMessage", "elicitation/create", "roots/list"];
    expect(newlyAsked().map(({ method }) => method)).toEqual(methods);
  });

  test("ctx.sample lets the client's model use a tool [SAMP-TOOL-BALANCE, SAMP-TOOLRESULT-ONLY]", async () => {
    const { content } = await client().call("rhyme_with_tools");
    expect(content).toEqual([{ type: "text", text: 'rhyme {"word":"blue"}: shoe' }]);
    expect(newlyAsked()).toHaveLength(2);
  });

  test("ctx.tryElicit sends the user to a page; a legacy client hears when that is done [ELIC-URL-PARAMS, ELIC-URL-ID, ELIC-URL-ID-REMOVED, ELIC-URL-COMPLETE-NOTIF, ELIC-URL-COMPLETE-REMOVED]", async () => {
    const isLegacy = row.era === "legacy";
    const { content } = await client().call("visit");
    expect(content).toEqual([{ type: "text", text: `accept, told: ${isLegacy}` }]);
    const [question] = newlyAsked();
    expect(question?.params).toMatchObject({ mode: "url", url: page });
    expect(question?.params?.["elicitationId"]).toBe(isLegacy ? "visit-1" : undefined);
    const method = "notifications/elicitation/complete";
    const complete = { method, params: { elicitationId: "visit-1" } };
    await eventually(() => expect(client().heard).toEqual(isLegacy ? [complete] : []));
  });
});

describe.each(legacyRows)("$name over $way", (row) => {
  const { client } = connected(row, "asking");

  test("ctx.ask gets the answers to elicitation, sampling and roots, while its call runs [ELIC-DELIVERY-LEGACY, SAMP-DELIVERY-LEGACY, ROOTS-DELIVERY-LEGACY, HTTP-SSE-RELATED]", async () => {
    const { content, isError } = await client().call("interview");
    expect(isError ?? false).toBe(false);
    expect(JSON.parse(String(content[0]?.["text"]))).toEqual([
      { colour: "blue" },
      { type: "text", text: "shoe" },
      [{ uri: "file:///home", name: "Home" }],
    ]);
  });

  test("push.ping gets a sign of life, outside of any call [HTTP-GET-MESSAGES]", async () => {
    // The client opens its GET stream a moment after it has connected.
    await eventually(async () => expect((await client().call("wake")).isError ?? false).toBe(false));
  });

  test("UrlElicitationRequired is an error with the pages [ELIC-URL-REQUIRED-ERR, ELIC-URL-REQUIRED-ERR-LIST]", async () => {
    await expect(client().call("connected_only")).rejects.toMatchObject({
      code: -32042,
      elicitations: [{ mode: "url", message: "Connect first", url: page, elicitationId: "connect-1" }],
    });
  });
});

describe.each(modernRows)("$name over $way", (row) => {
  const { client, newlyAsked } = connected(row, "asking");

  test("ctx.ask and push.ping fail: a modern client is sent no requests [PING-REMOVED]", async () => {
    for (const tool of ["interview", "wake"]) expect((await client().call(tool)).isError).toBe(true);
    expect(newlyAsked()).toEqual([]);
  });

  test("UrlElicitationRequired is a question, and the client comes back from the page by itself [ELIC-URL-REQUIRED-MODERN]", async () => {
    expect(await client().call("connected_only")).toMatchObject({ content: [{ text: "Connected" }] });
    expect(newlyAsked()).toMatchObject([{ params: { mode: "url", message: "Connect first" } }]);
  });
});
