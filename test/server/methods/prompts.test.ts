// prompts/list and prompts/get: how a prompt is published, checked and rendered.
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { audio, image, ProtocolError, ToolError, text } from "halyard";
import * as v from "valibot";
import { expect, test } from "vitest";
import * as z from "zod";
import { list, makeServer, open, refusal } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("prompts", {}, (cell) => {
  test("a server that offers prompts declares the capability, and one that does not has no prompt methods [PROMPT-CAP]", async () => {
    const { server } = makeServer();
    const client = await open(cell, server);
    expect(server.capabilities(cell.revision).prompts).toBeUndefined();
    expect((await refusal(client.request("prompts/list"))).code).toBe(-32601);
    expect((await refusal(client.request("prompts/get", { name: "a" }))).code).toBe(-32601);
    server.prompt("a", {}, () => "A");
    expect(server.capabilities(cell.revision).prompts).toEqual({ listChanged: true });
    expect(await list(client, "prompts/list")).toEqual([{ name: "a" }]);
  });

  test("a prompt is listed with what this revision knows of it", async () => {
    const { server } = makeServer();
    const icons = [{ src: "https://example.com/p.png" }];
    server.prompt(
      "review",
      {
        title: "Review",
        description: "Reviews code",
        icons,
        _meta: { k: 1 },
        arguments: z.object({ code: z.string().describe("The code").meta({ title: "Code" }) }),
      },
      () => "",
    );
    expect(await list(await open(cell, server), "prompts/list")).toEqual([
      {
        name: "review",
        description: "Reviews code",
        arguments: [
          {
            name: "code",
            description: "The code",
            required: true,
            ...(cell.revision >= "2025-06-18" && { title: "Code" }),
          },
        ],
        ...(cell.revision >= "2025-06-18" && { title: "Review", _meta: { k: 1 } }),
        ...(cell.revision >= "2025-11-25" && { icons }),
      },
    ]);
  });

  test.each([
    ["Zod", z.object({ a: z.string(), b: z.string().optional() })],
    ["Valibot", toStandardJsonSchema(v.object({ a: v.string(), b: v.optional(v.string()) }))],
    ["ArkType", type({ a: "string", "b?": "string" })],
    ["JSON Schema", { type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a"] }],
  ])(
    "arguments are published from a %s schema and checked against it [PROMPT-VALIDATE-ARGS, PROMPT-ERR]",
    async (_, schema) => {
      const { server, log } = makeServer();
      server.prompt("p", { arguments: schema }, (args) => JSON.stringify(args));
      const client = await open(cell, server);
      const [prompt] = await list(client, "prompts/list");
      expect(prompt?.["arguments"]).toEqual([
        { name: "a", required: true },
        { name: "b", required: false },
      ]);
      expect(await client.request("prompts/get", { name: "p", arguments: { a: "1" } })).toMatchObject({
        messages: [{ role: "user", content: { type: "text", text: '{"a":"1"}' } }],
      });
      const error = await refusal(client.request("prompts/get", { name: "p", arguments: { b: "2" } }));
      expect(error.code).toBe(-32602);
      expect(error.message).toMatch(/\bp\b.*\ba\b/);
      expect((await refusal(client.request("prompts/get", { name: "p" }))).code).toBe(-32602);
      expect(log).toEqual([]);
    },
  );

  test("arguments are strings on the wire, and what the schema makes of them in the handler", async () => {
    const { server } = makeServer();
    server.prompt("n", { arguments: z.object({ n: z.coerce.number() }) }, ({ n }) => `${n + 1}`);
    const client = await open(cell, server);
    expect(await client.request("prompts/get", { name: "n", arguments: { n: "4" } })).toMatchObject({
      messages: [{ content: { text: "5" } }],
    });
  });

  test("numbers and booleans are read off the strings, whatever the schema", async () => {
    const { server } = makeServer();
    const schema = z.object({
      n: z.number(),
      on: z.boolean().optional(),
      id: z.union([z.string(), z.number()]).optional(),
    });
    server.prompt("zod", { arguments: schema }, (args) => JSON.stringify(args));
    const json = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    server.prompt("json", { arguments: json }, (args) => JSON.stringify(args));
    const client = await open(cell, server);
    const get = async (name: string, args: object): Promise<unknown> => {
      const { messages } = await client.request("prompts/get", { name, arguments: args });
      return JSON.parse((messages as { content: { text: string } }[])[0]?.content.text ?? "");
    };
    expect(await get("zod", { n: "4", on: "false", id: "7" })).toEqual({ n: 4, on: false, id: "7" });
    expect(await get("json", { n: "4" })).toEqual({ n: 4 });
    for (const n of ["four", "", "1e999"]) {
      expect((await refusal(client.request("prompts/get", { name: "zod", arguments: { n } }))).code).toBe(
        -32602,
      );
    }
    expect(
      (await refusal(client.request("prompts/get", { name: "json", arguments: { n: "4.5" } }))).code,
    ).toBe(-32602);
  });

  test("an argument that no string can satisfy is refused at registration", () => {
    const { server } = makeServer();
    const refused = (schema: object): void =>
      expect(() =>
        server.prompt("p", { arguments: z.object({ tags: schema as z.ZodType }) }, () => ""),
      ).toThrow(
        expect.objectContaining({
          code: "INVALID_SCHEMA",
          field: "arguments",
          message: expect.stringMatching(/"tags" of type (array|object|null).* strings/),
        }),
      );
    refused(z.array(z.string()));
    refused(z.object({ a: z.string() }));
    refused(z.null());
    server.prompt(
      "p",
      { arguments: z.object({ tags: z.string().transform((tags) => tags.split(",")) }) },
      () => "",
    );
  });

  test.skipIf(cell.transport === "http" && cell.era === "modern").each([
    ["no name", {}],
    ["a name that is a number", { name: 1 }],
    ["a name that is an object", { name: { toString: "x" } }],
    ["an unknown name", { name: "nope" }],
    ["the name of a built-in", { name: "constructor" }],
    ["arguments that are a list", { name: "p", arguments: [] }],
    ["arguments that are null", { name: "p", arguments: null }],
    ["an argument that is not a string", { name: "p", arguments: { a: 4 } }],
  ])("prompts/get with %s is -32602 [PROMPT-ERR, PROMPT-SEC]", async (_, params) => {
    const { server, log } = makeServer();
    let runs = 0;
    server.prompt("p", { arguments: z.object({ a: z.any() }) }, () => `${++runs}`);
    const client = await open(cell, server);
    expect((await refusal(client.request("prompts/get", params))).code).toBe(-32602);
    expect(runs).toBe(0);
    expect(log).toEqual([]);
  });

  test("a prompt may return text, content, messages or everything", async () => {
    const { server } = makeServer();
    server.prompt("text", { description: "D" }, () => "Hi");
    server.prompt("content", {}, () => text("Hi"));
    server.prompt("messages", {}, async () => [
      { role: "user", content: text("Q") },
      { role: "assistant", content: text("A") },
    ]);
    server.prompt("full", { description: "D" }, () => ({
      description: "Other",
      messages: [],
      _meta: { k: 1 },
    }));
    const client = await open(cell, server);
    const get = (name: string) => client.request("prompts/get", { name });
    const user = { role: "user", content: { type: "text", text: "Hi" } };
    expect(await get("text")).toMatchObject({ description: "D", messages: [user] });
    expect(await get("content")).toMatchObject({ messages: [user] });
    expect((await get("messages"))["messages"]).toEqual([
      { role: "user", content: { type: "text", text: "Q" } },
      { role: "assistant", content: { type: "text", text: "A" } },
    ]);
    expect(await get("full")).toMatchObject({ description: "Other", messages: [], _meta: { k: 1 } });
  });

  test("images and sounds are base64 with their type, as far as the revision has them [PROMPT-IMAGE-B64, PROMPT-AUDIO-B64]", async () => {
    const { server } = makeServer();
    server.prompt("media", {}, () => [
      { role: "user", content: image(new Uint8Array([255, 0, 127]), "image/png") },
      { role: "user", content: audio(new Uint8Array([251, 255]), "audio/wav") },
    ]);
    const { messages } = await (await open(cell, server)).request("prompts/get", { name: "media" });
    expect(messages).toEqual([
      { role: "user", content: { type: "image", data: "/wB/", mimeType: "image/png" } },
      {
        role: "user",
        content:
          cell.revision >= "2025-03-26"
            ? { type: "audio", data: "+/8=", mimeType: "audio/wav" }
            : { type: "text", text: expect.stringContaining("audio/wav") },
      },
    ]);
  });

  test("embedded resources keep their URI, type and text or blob; links are links from 2025-06-18 [PROMPT-EMBED-FIELDS, PROMPT-LINK]", async () => {
    const { server } = makeServer();
    const embedded = { uri: "note:///a", mimeType: "text/plain", text: "A" };
    const binary = { uri: "note:///b", mimeType: "image/png", blob: "AA==" };
    server.prompt("files", {}, () => [
      { role: "user", content: { type: "resource", resource: embedded } },
      { role: "user", content: { type: "resource", resource: binary } },
      { role: "user", content: { type: "resource_link", uri: "note:///c", name: "c" } },
    ]);
    const { messages } = await (await open(cell, server)).request("prompts/get", { name: "files" });
    expect(messages).toEqual([
      { role: "user", content: { type: "resource", resource: embedded } },
      { role: "user", content: { type: "resource", resource: binary } },
      {
        role: "user",
        content:
          cell.revision >= "2025-06-18"
            ? { type: "resource_link", uri: "note:///c", name: "c" }
            : { type: "text", text: "c: note:///c" },
      },
    ]);
  });

  test("errors that a prompt throws on purpose are passed on", async () => {
    const { server, log } = makeServer();
    server.prompt("protocol", {}, () => {
      throw new ProtocolError(-31000, "No", { why: 1 });
    });
    server.prompt("tool", {}, () => {
      throw new ToolError("Said on purpose");
    });
    const client = await open(cell, server);
    expect(await refusal(client.request("prompts/get", { name: "protocol" }))).toMatchObject({
      code: -31000,
      message: "No",
      data: { why: 1 },
    });
    expect(await refusal(client.request("prompts/get", { name: "tool" }))).toMatchObject({
      code: -32603,
      message: "Said on purpose",
    });
    expect(log).toEqual([]);
  });

  test("a disabled prompt is neither listed nor rendered", async () => {
    const { server } = makeServer();
    const handle = server.prompt("shy", {}, () => "here");
    const client = await open(cell, server);
    handle.disable();
    expect(await list(client, "prompts/list")).toEqual([]);
    expect((await refusal(client.request("prompts/get", { name: "shy" }))).code).toBe(-32602);
    handle.enable();
    expect(await client.request("prompts/get", { name: "shy" })).toHaveProperty("messages");
  });

  test.each(["constructor", "__proto__", "toString"])("a prompt may be named %s", async (name) => {
    const { server } = makeServer();
    server.prompt(name, {}, () => "mine");
    const client = await open(cell, server);
    expect(await client.request("prompts/get", { name })).toMatchObject({
      messages: [{ content: { text: "mine" } }],
    });
  });

  test("a prompt that returns something else fails with an id", async () => {
    const { server, log } = makeServer();
    server.prompt("odd", {}, (() => 5) as never);
    const client = await open(cell, server);
    const error = await refusal(client.request("prompts/get", { name: "odd" }));
    expect(error).toMatchObject({ code: -32603, data: { errorId: log[0]?.details?.["errorId"] } });
  });
});
