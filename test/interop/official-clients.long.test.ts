// The official clients drive the demo server over stdio, and over HTTP through every mount: the same steps for each of them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/turns.ts";
import type { InteropClient } from "./clients.ts";
import { rowsOf } from "./rows.ts";
import { type Target, ways } from "./ways.ts";

const rows = rowsOf(ways);

describe.each(rows)("$name over $way", ({ era, nodes, notFoundCode, start, connect }) => {
  let target: Target;
  let client: InteropClient;

  beforeAll(async () => {
    target = await start("demo");
    client = await connect(target);
  });

  afterAll(async () => {
    await client.close();
    await target.close();
  });

  const heard = (method: string): number => client.heard.filter((one) => one.method === method).length;
  const hears = (method: string, times: number): Promise<void> =>
    eventually(() => expect(heard(method)).toBe(times));
  /** Each node announces its own change; announcements that wait together become one. */
  const hearsChange = (method: string, before: number): Promise<void> =>
    eventually(() =>
      expect(heard(method) - before).toSatisfy((times: number) => times >= 1 && times <= nodes),
    );

  test("connecting agrees on the newest revision of the era [INIT-VERSION-SERVER-ECHO, VER-DUAL-SERVER-MAY, VER-DISCOVER-IMPLEMENT]", () => {
    expect(client.revision).toBe(era === "modern" ? "2026-07-28" : "2025-11-25");
    expect(client.serverName).toBe("notebook");
  });

  test("connecting tells the capabilities that the steps below use [TOOL-CAP, PROMPT-CAP, RES-CAP, COMP-CAP, LOG-CAP, LIST-CHANGED-DECLARE, VER-CAP-SERVER-ADVERTISE]", () => {
    expect(client.capabilities).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    });
  });

  test("the four lists name what is offered, and not what is disabled [LIST-RESPOND]", async () => {
    expect(await client.toolNames()).toEqual(["write_note", "search_notes", "count", "toggle_feature"]);
    expect(await client.promptNames()).toEqual(["summarise"]);
    expect(await client.resourceUris()).toEqual(["note:///welcome"]);
    expect(await client.templateUris()).toEqual(["note:///{id}"]);
  });

  test("tools/call returns content [TOOL-LINK-MAY]", async () => {
    const { content, isError } = await client.call("write_note", { id: "called", text: "Hello" });
    expect(content).toEqual([
      { type: "resource_link", uri: "note:///called", name: "called", mimeType: "text/plain" },
    ]);
    expect(isError ?? false).toBe(false);
  });

  test("tools/call returns structured content that the client's own validator accepts, and the same as text [TOOL-STRUCTURED-CONFORM, TOOL-STRUCTURED-TEXT, TOOL-STRUCTURED-OBJECT]", async () => {
    // The clients validate against the schema of the list that they saw last.
    await client.toolNames();
    const { content, structuredContent } = await client.call("search_notes", { query: "RAINS" });
    expect(structuredContent).toEqual({
      matches: [{ uri: "note:///groundwork", text: "Dig before it rains" }],
    });
    expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }]);
  });

  test("tools/call with arguments that do not fit is a result that says why [TOOL-ERR-INPUT-VALIDATION]", async () => {
    const { content, isError } = await client.call("write_note", { id: "Not an id", text: "Hello" });
    expect(isError).toBe(true);
    expect(content[0]).toMatchObject({
      type: "text",
      text: expect.stringContaining("Use lower-case letters"),
    });
  });

  test("tools/call of an unknown tool is an error of the protocol [TOOL-ERR-UNKNOWN]", async () => {
    await expect(client.call("no_such_tool")).rejects.toMatchObject({ code: -32602 });
  });

  test("tools/call of a disabled tool is that of an unknown one [TOOL-ERR-UNKNOWN]", async () => {
    await expect(client.call("delete_note", { id: "groceries" })).rejects.toMatchObject({ code: -32602 });
  });

  test("resources/read returns a fixed resource, and one that matches the template [RES-CONTENTS-ONEOF]", async () => {
    expect(await client.read("note:///welcome")).toMatch(/^Welcome!/);
    expect(await client.read("note:///groceries")).toBe("Bread, olives, lemons");
  });

  test("resources/read of nothing is refused [RES-NOT-FOUND-LEGACY, RES-NOT-FOUND-EMPTY]", async () => {
    await expect(client.read("note:///nothing")).rejects.toMatchObject({
      code: notFoundCode,
      message: expect.stringContaining("Resource not found: note:///nothing"),
    });
  });

  test("prompts/get renders a prompt, with the default of an argument that is left out", async () => {
    expect(await client.prompt("summarise", { id: "groceries" })).toEqual({
      type: "text",
      text: "Summarise this note as one sentence:\n\nBread, olives, lemons",
    });
  });

  test("prompts/get without a required argument, or of an unknown prompt, is refused [PROMPT-ERR, PROMPT-VALIDATE-ARGS]", async () => {
    await expect(client.prompt("summarise", {})).rejects.toMatchObject({ code: -32602 });
    await expect(client.prompt("no-such-prompt", {})).rejects.toMatchObject({ code: -32602 });
  });

  test("completion/complete suggests for a template and for a prompt", async () => {
    const template = { type: "ref/resource", uri: "note:///{id}" } as const;
    expect(await client.complete(template, { name: "id", value: "gro" })).toEqual([
      "groceries",
      "groundwork",
    ]);
    const prompt = { type: "ref/prompt", name: "summarise" } as const;
    expect(await client.complete(prompt, { name: "style", value: "h" })).toEqual(["haiku"]);
  });

  test("progress reaches the callback of its call, in order and before the result [PROG-MESSAGE]", async () => {
    const seen: unknown[] = [];
    const onProgress = (report: object): void => void seen.push(report);
    const { content } = await client.call("count", { to: 3, pauseMs: 20 }, { onProgress });
    const reports = [1, 2, 3].map((step) => ({ progress: step, total: 3, message: `Counted ${step}` }));
    // The last may be lost on a busy machine: see `errors` of the clients.
    expect(seen.length).toBeGreaterThan(1);
    expect(seen).toMatchObject(reports.slice(0, seen.length));
    expect(content).toEqual([{ type: "text", text: "Counted to 3" }]);
  });

  test("cancelling a call aborts the signal of its handler, and nothing more comes of it [CANCEL-RECEIVER, STDIO-MODERN-CANCEL-STOP]", async () => {
    const cancelling = new AbortController();
    const call = client.call(
      "count",
      { to: 1000, pauseMs: 10 },
      { signal: cancelling.signal, onProgress: () => cancelling.abort("Changed my mind") },
    );
    await expect(call).rejects.toThrow();
    await eventually(async () =>
      expect(await client.read("note:///count")).toMatch(/^Counting to 1000 was cancelled at \d+$/),
    );
  });

  test("a change of the tools is told to a client that listens, and the list has changed [LIST-CHANGED-SEND-LEGACY, LIST-CHANGED-SEND-MODERN]", async () => {
    const changed = "notifications/tools/list_changed";
    const before = heard(changed);
    const stop = await client.watch("note:///elsewhere");
    const switched = await client.call("toggle_feature");
    expect(switched.structuredContent).toEqual({ feature: "delete_note", enabled: true });
    await hearsChange(changed, before);
    expect(await client.toolNames()).toContain("delete_note");
    const between = heard(changed);
    await client.call("toggle_feature");
    await hearsChange(changed, between);
    expect(await client.toolNames()).not.toContain("delete_note");
    await stop();
  });

  test("a change of a resource is told to those who asked for it, until they stop [RES-UPDATED-LEGACY, RES-UPDATED-MODERN, RES-SUBSCRIBE-CAP-MODERN, SUB-CANCEL-SERVER-STOP]", async () => {
    const updated = "notifications/resources/updated";
    const before = heard(updated);
    const stop = await client.watch("note:///watched");
    await client.call("write_note", { id: "unwatched", text: "Nobody asked" });
    await client.call("write_note", { id: "watched", text: "Somebody asked" });
    await hears(updated, before + 1);
    const stamp = { "io.modelcontextprotocol/subscriptionId": expect.any(String) };
    expect(client.heard.findLast(({ method }) => method === updated)?.params).toMatchObject({
      uri: "note:///watched",
      ...(era === "modern" && { _meta: stamp }),
    });
    await stop();
    const writeUnheard = async (): Promise<void> => {
      const earlier = heard(updated);
      await client.call("write_note", { id: "watched", text: "Nobody asks any more" });
      expect(await client.read("note:///watched")).toBe("Nobody asks any more");
      expect(heard(updated)).toBe(earlier);
    };
    // The node that holds the stream may hear of the end a moment later.
    await (nodes === 1 ? writeUnheard() : eventually(writeUnheard));
  });

  test("log messages come from the level on that the client asks for; a modern one has to ask [LOG-PER-REQUEST-OPTIN, LOG-SETLEVEL, LOG-MESSAGE-SHAPE]", async () => {
    const message = "notifications/message";
    const before = heard(message);
    if (era === "modern") expect(before).toBe(0);
    await client.call("write_note", { id: "logged", text: "Quietly" }, await client.logsFrom("error"));
    expect(heard(message)).toBe(before);
    await client.call("write_note", { id: "logged", text: "Aloud" }, await client.logsFrom("debug"));
    await hears(message, before + 1);
    expect(client.heard.at(-1)?.params).toMatchObject({ level: "info", data: "Wrote note:///logged" });
  });

  test("everything that the server has sent so far was understood [STDIO-STDOUT-CLEAN, STDIO-FRAME-NEWLINE]", () => {
    expect(client.errors).toEqual([]);
  });
});

describe.each(rows)("$name over $way", ({ era, turnsPages, start, connect }) => {
  test("the pages of a list join to the whole of it", async () => {
    const target = await start("pagedDemo");
    const client = await connect(target);
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await client.toolPage(cursor);
      pages.push(page.names);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(pages).toHaveLength(turnsPages ? 1 : 2);
    expect(pages.flat()).toEqual(["write_note", "search_notes", "count", "toggle_feature"]);
    expect(client.errors).toEqual([]);
    await client.close();
    await target.close();
  });

  test("a server that is told to end tells its client [SUB-GRACEFUL-RESULT]", async () => {
    const client = await connect(await start("demo"));
    expect(await client.terminate()).toBe(era === "modern" ? "graceful" : "closed");
    expect(client.errors).toEqual([]);
    await client.close();
  });
});
