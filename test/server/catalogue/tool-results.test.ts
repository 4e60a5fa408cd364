// What a tool returns, and what each revision can carry of it.
import { Buffer } from "node:buffer";
import {
  audio,
  type CallToolResult,
  type ContentBlock,
  errorCodes,
  image,
  type JsonObject,
  ProtocolError,
  result,
  text,
} from "halyard";
import { expect, test } from "vitest";
import * as z from "zod";
import { call, heard, list, makeServer, open, refusal, textOf } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("tool results", {}, (cell) => {
  const hasStructured = cell.revision >= "2025-06-18";
  const isModern = cell.era === "modern";

  test("a string, a block, several blocks and nothing all become content", async () => {
    const { server } = makeServer();
    server.tool("string", {}, () => "Hi");
    server.tool("block", {}, () => text("Hi"));
    server.tool("blocks", {}, async () => [text("a"), text("b")]);
    server.tool("nothing", {}, () => {});
    const client = await open(cell, server);
    expect((await call(client, "string")).content).toEqual([{ type: "text", text: "Hi" }]);
    expect((await call(client, "block")).content).toEqual([{ type: "text", text: "Hi" }]);
    expect((await call(client, "blocks")).content).toEqual([text("a"), text("b")]);
    expect((await call(client, "nothing")).content).toEqual([]);
    expect((await call(client, "string")).isError).toBeUndefined();
  });

  test("bytes of images and sounds are base64, whatever the bytes", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
    const base64 = Buffer.from(bytes).toString("base64");
    const { server } = makeServer();
    server.tool("photo", {}, () => image(bytes, "image/png"));
    server.tool("ready", {}, () => image(base64, "image/png"));
    const client = await open(cell, server);
    const expected = [{ type: "image", data: base64, mimeType: "image/png" }];
    expect((await call(client, "photo")).content).toEqual(expected);
    expect((await call(client, "ready")).content).toEqual(expected);
  });

  test("audio is sent from 2025-03-26; before, a line of text says what is missing [TOOL-CONTENT-AUDIO-SINCE]", async () => {
    const { server } = makeServer();
    server.tool("sound", {}, () => [text("listen"), audio(new Uint8Array([1, 2]), "audio/wav")]);
    const client = await open(cell, server);
    const { content } = await call(client, "sound");
    expect(content).toHaveLength(2);
    if (cell.revision >= "2025-03-26") {
      expect(content[1]).toEqual({ type: "audio", data: "AQI=", mimeType: "audio/wav" });
    } else {
      expect(content[1]).toEqual({ type: "text", text: expect.stringContaining("audio/wav") });
      expect(heard(client)).not.toContain("AQI=");
    }
  });

  test("resource links are sent from 2025-06-18, listed or not; before, text names the resource [TOOL-CONTENT-LINK-SINCE, TOOL-LINK-MAY]", async () => {
    const { server } = makeServer();
    const link: ContentBlock = {
      type: "resource_link",
      uri: "note:///a",
      name: "a",
      title: "Note A",
      description: "The first",
      icons: [{ src: "https://example.com/a.png" }],
    };
    server.tool("find", {}, () => link);
    const [block] = (await call(await open(cell, server), "find")).content;
    if (cell.revision >= "2025-11-25") expect(block).toEqual(link);
    else if (cell.revision >= "2025-06-18") {
      const { icons: _, ...rest } = link;
      expect(block).toEqual(rest);
    } else {
      expect(block).toEqual({ type: "text", text: "Note A: note:///a\nThe first" });
    }
  });

  test("embedded resources are sent on every revision, without fields that came later", async () => {
    const { server } = makeServer();
    server.tool("embed", {}, () => ({
      type: "resource",
      resource: { uri: "note:///a", mimeType: "text/plain", text: "A", _meta: { "example.com/k": 1 } },
      annotations: { audience: ["user"], priority: 0.5, lastModified: "2026-01-01T00:00:00Z" },
      _meta: { "example.com/k": 2 },
    }));
    const [block] = (await call(await open(cell, server), "embed")).content;
    const since0618 = hasStructured;
    expect(block).toEqual({
      type: "resource",
      resource: {
        uri: "note:///a",
        mimeType: "text/plain",
        text: "A",
        ...(since0618 && { _meta: { "example.com/k": 1 } }),
      },
      annotations: {
        audience: ["user"],
        priority: 0.5,
        ...(since0618 && { lastModified: "2026-01-01T00:00:00Z" }),
      },
      ...(since0618 && { _meta: { "example.com/k": 2 } }),
    });
  });

  test("result() carries content, an error and _meta on every revision", async () => {
    const { server } = makeServer();
    server.tool("full", {}, () =>
      result({ content: "no", isError: true, meta: { "example.com/trace": "t" } }),
    );
    expect(await call(await open(cell, server), "full")).toMatchObject({
      content: [{ type: "text", text: "no" }],
      isError: true,
      _meta: { "example.com/trace": "t" },
    });
  });

  test("structured content is there from 2025-06-18, with its text always [TOOL-STRUCTURED-TEXT, TOOL-STRUCTURED-CONFORM]", async () => {
    const { server } = makeServer();
    const output = z.object({ celsius: z.number() });
    server.tool("measure", { output }, () => ({ celsius: 21 }));
    const measured = await call(await open(cell, server), "measure");
    expect(JSON.parse(textOf(measured))).toEqual({ celsius: 21 });
    if (hasStructured) expect(measured.structuredContent).toEqual({ celsius: 21 });
    else expect(measured).not.toHaveProperty("structuredContent");
  });

  test("a tool with output may choose its own text", async () => {
    const { server } = makeServer();
    const output = z.object({ rows: z.number() });
    server.tool("count", { output }, () => result({ content: "3 rows", structured: { rows: 3 } }));
    const counted = await call(await open(cell, server), "count");
    expect(textOf(counted)).toBe("3 rows");
    expect(counted.structuredContent).toEqual(hasStructured ? { rows: 3 } : undefined);
  });

  test("structured content without an output schema is passed on", async () => {
    const { server } = makeServer();
    server.tool("free", {}, () => result({ structured: { a: [1] } }));
    const free = await call(await open(cell, server), "free");
    expect(textOf(free)).toBe('{"a":[1]}');
    expect(free.structuredContent).toEqual(hasStructured ? { a: [1] } : undefined);
  });

  const values: [string, z.ZodType, unknown][] = [
    ["null", z.null(), null],
    ["a list", z.array(z.number()), [1, 2]],
    ["a string", z.string(), "plain"],
    ["a number", z.number(), 0],
    ["a boolean", z.boolean(), false],
  ];

  test.each(values)(
    "%s is structured content on 2026-07-28, and wrapped where that is an object, its schema too [TOOL-STRUCTURED-ANY, TOOL-OUTPUTSCHEMA-ANY, TOOL-STRUCTURED-OBJECT, TOOL-OUTPUTSCHEMA-OBJECT, TOOL-STRUCTURED-TEXT]",
    async (_, output, value) => {
      const { server } = makeServer();
      server.tool("value", { output }, () => value);
      const client = await open(cell, server);
      const answer = await call(client, "value");
      expect(textOf(answer)).toBe(JSON.stringify(value));
      const [tool] = await list(client, "tools/list");
      if (isModern) {
        expect(answer).toHaveProperty("structuredContent", value);
        expect(tool?.["outputSchema"]).not.toHaveProperty("properties.result");
      } else if (hasStructured) {
        expect(answer.structuredContent).toEqual({ result: value });
        expect(tool?.["outputSchema"]).toMatchObject({
          type: "object",
          properties: { result: {} },
          required: ["result"],
        });
      } else {
        expect(answer).not.toHaveProperty("structuredContent");
        expect(tool).not.toHaveProperty("outputSchema");
      }
    },
  );

  test("an absent value and null are told apart [TOOL-STRUCTURED-ANY]", async () => {
    const { server } = makeServer();
    server.tool("null", {}, () => result({ content: "x", structured: null }));
    server.tool("absent", {}, () => result({ content: "x" }));
    const client = await open(cell, server);
    const expected = isModern ? null : hasStructured ? { result: null } : undefined;
    expect((await call(client, "null")).structuredContent).toEqual(expected);
    expect(await call(client, "absent")).not.toHaveProperty("structuredContent");
  });

  test("a tool whose output may be an object or not wraps both, as its schema says", async () => {
    const { server } = makeServer();
    const output = z.union([z.object({ a: z.number() }), z.string()]);
    server.tool("either", { input: z.object({ text: z.boolean() }), output }, ({ text: isText }) =>
      isText ? "plain" : { a: 1 },
    );
    const client = await open(cell, server);
    const structured = async (isText: boolean): Promise<unknown> =>
      (await call(client, "either", { text: isText })).structuredContent;
    const wrap = (value: unknown): unknown =>
      isModern ? value : hasStructured ? { result: value } : undefined;
    expect(await structured(true)).toEqual(wrap("plain"));
    expect(await structured(false)).toEqual(wrap({ a: 1 }));
  });

  test("a schema that refers to itself leads to the same place once it is wrapped", async () => {
    const { server } = makeServer();
    const output = {
      type: "array",
      items: { anyOf: [{ $ref: "#" }, { $ref: "#/$defs/leaf" }] },
      $defs: { leaf: { type: "string" } },
    };
    server.tool("nested", { output }, () => [["a"], "b"]);
    const [tool] = await list(await open(cell, server), "tools/list");
    const inner = "#/properties/result";
    if (isModern) expect(tool?.["outputSchema"]).toEqual(output);
    else if (hasStructured)
      expect(tool?.["outputSchema"]).toMatchObject({
        properties: { result: { items: { anyOf: [{ $ref: inner }, { $ref: `${inner}/$defs/leaf` }] } } },
      });
  });

  test("a union of objects is published as an object, in input and output, and is not wrapped", async () => {
    const { server } = makeServer();
    const shape = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("circle"), radius: z.number() }),
      z.object({ kind: z.literal("square"), side: z.number() }),
    ]);
    server.tool("same", { input: shape, output: shape }, (given) => given);
    const client = await open(cell, server);
    const [tool] = await list(client, "tools/list");
    expect(tool?.["inputSchema"]).toMatchObject({ type: "object", oneOf: [{}, {}] });
    if (hasStructured) expect(tool?.["outputSchema"]).toMatchObject({ type: "object", oneOf: [{}, {}] });
    const given = { kind: "circle", radius: 1 };
    const same = await call(client, "same", given);
    expect(JSON.parse(textOf(same))).toEqual(given);
    expect(same.structuredContent).toEqual(hasStructured ? given : undefined);
  });

  test("an output schema of an object is published from 2025-06-18 [TOOL-OUTPUTSCHEMA-OBJECT, TOOL-ANNOTATIONS-SINCE]", async () => {
    const { server } = makeServer();
    server.tool("o", { output: z.object({ a: z.string() }) }, () => ({ a: "" }));
    const [tool] = await list(await open(cell, server), "tools/list");
    if (hasStructured) expect(tool?.["outputSchema"]).toMatchObject({ type: "object", required: ["a"] });
    else expect(tool).not.toHaveProperty("outputSchema");
  });
});

describeMatrix("output validation", {}, (cell) => {
  const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  test("a value that does not fit is never sent: the client gets an id, the log the details [TOOL-STRUCTURED-CONFORM]", async () => {
    const { server, log } = makeServer();
    server.tool("count", { output }, () => ({ n: "secret-value" }));
    const client = await open(cell, server);
    const error = await refusal(call(client, "count"));
    expect(error.code).toBe(-32603);
    const { errorId } = error.data as { errorId: string };
    expect(error.message).toContain(errorId);
    expect(heard(client)).not.toContain("secret-value");
    expect(error.message).not.toContain("integer");
    expect(log).toHaveLength(1);
    expect(log[0]?.message).toContain(errorId);
    expect(log[0]?.details).toMatchObject({ errorId, method: "tools/call", name: "count" });
    expect(String(log[0]?.details?.["error"])).toMatch(/n: .*"?integer"?/);
  });

  test("a missing structured value is a failure as well [TOOL-STRUCTURED-CONFORM]", async () => {
    const { server } = makeServer();
    server.tool("forgot", { output }, () => result({ content: "no structure" }));
    server.tool("zod", { output: z.object({ n: z.number() }) }, (() => undefined) as never);
    const client = await open(cell, server);
    expect((await refusal(call(client, "forgot"))).code).toBe(-32603);
    expect((await refusal(call(client, "zod"))).code).toBe(-32603);
  });

  test("what the schema makes of the value is what is sent [TOOL-STRUCTURED-CONFORM]", async () => {
    const { server } = makeServer();
    server.tool("trim", { output: z.object({ a: z.string().default("none") }) }, (() => ({ b: 1 })) as never);
    expect(JSON.parse(textOf(await call(await open(cell, server), "trim")))).toEqual({ a: "none" });
  });

  test("an asynchronous output schema is waited for", async () => {
    const { server } = makeServer();
    const slow = z.object({ n: z.number().refine(async (n) => (await Promise.resolve(n)) > 0) });
    server.tool("slow", { input: z.object({ n: z.number() }), output: slow }, ({ n }) => ({ n }));
    const client = await open(cell, server);
    expect(JSON.parse(textOf(await call(client, "slow", { n: 1 })))).toEqual({ n: 1 });
    expect((await refusal(call(client, "slow", { n: -1 }))).code).toBe(-32603);
  });

  test("a result that says it is an error needs no structured value", async () => {
    const { server, log } = makeServer();
    server.tool("sorry", { output }, () => result({ content: "Not today", isError: true }));
    expect(await call(await open(cell, server), "sorry")).toMatchObject({
      content: [text("Not today")],
      isError: true,
    });
    expect(log).toEqual([]);
  });

  test("validation can be switched off for a server, and on again for one tool", async () => {
    const { server } = makeServer({ validateOutput: false });
    server.tool("loose", { output }, () => ({ n: "x" }));
    server.tool("strict", { output, validateOutput: true }, () => ({ n: "x" }));
    const client = await open(cell, server);
    expect(textOf(await call(client, "loose"))).toBe('{"n":"x"}');
    expect((await refusal(call(client, "strict"))).code).toBe(-32603);
  });

  test("validation can be switched off for one tool", async () => {
    const { server } = makeServer();
    server.tool("loose", { output, validateOutput: false }, () => ({ n: "x" }));
    expect(textOf(await call(await open(cell, server), "loose"))).toBe('{"n":"x"}');
  });
});

describeMatrix("fields of a tool", {}, (cell) => {
  test("each revision lists the fields it knows and no later ones [TOOL-ANNOTATIONS-SINCE]", async () => {
    const { server } = makeServer();
    const annotations = { title: "Old title", readOnlyHint: true };
    const icons = [{ src: "https://example.com/i.png", sizes: ["48x48"], theme: "dark" as const }];
    server.tool(
      "rich",
      {
        title: "Rich",
        description: "All of it",
        icons,
        annotations,
        output: z.object({}),
        _meta: { "example.com/k": 1 },
      },
      () => ({}),
    );
    const [tool] = await list(await open(cell, server), "tools/list");
    const since = (revision: string): boolean => cell.revision >= revision;
    expect(Object.keys(tool as JsonObject).toSorted()).toEqual(
      [
        "name",
        "description",
        "inputSchema",
        ...(since("2025-03-26") ? ["annotations"] : []),
        ...(since("2025-06-18") ? ["title", "outputSchema", "_meta"] : []),
        ...(since("2025-11-25") ? ["icons"] : []),
      ].toSorted(),
    );
    if (since("2025-03-26")) expect(tool?.["annotations"]).toEqual(annotations);
    if (since("2025-11-25")) expect(tool?.["icons"]).toEqual(icons);
  });

  test("the message of a progress report came with 2025-03-26", async () => {
    const { server } = makeServer();
    server.tool("work", {}, (_, ctx) => {
      ctx.progress(1, 2, "Half");
      return "done";
    });
    const client = await open(cell, server);
    await client.request("tools/call", { name: "work", _meta: { progressToken: "t" } });
    const [progress] = client.notifications("notifications/progress");
    expect(progress?.params).toEqual({
      progressToken: "t",
      progress: 1,
      total: 2,
      ...(cell.revision >= "2025-03-26" && { message: "Half" }),
    });
  });
});

describeMatrix("results that JSON cannot write", {}, (cell) => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const handlers: Record<string, () => never> = {
    "a bigint": () => result({ structured: { n: 1n } }) as never,
    "a bigint beside text": () => result({ content: "x", structured: { n: 1n } }) as never,
    "a cycle": () => result({ structured: cycle }) as never,
    "a cycle beside text": () => result({ content: "x", structured: cycle }) as never,
    "a bigint in _meta": () => result({ content: "x", meta: { "example.com/n": 1n } }) as never,
    "neither text nor content": () => ({ hello: 1 }) as never,
  };

  test.each(Object.entries(handlers))(
    "%s still gets an answer with an id, and the log says why",
    async (_, handler) => {
      const { server, log } = makeServer();
      server.tool("odd", {}, handler);
      server.tool("fine", {}, () => "fine");
      const client = await open(cell, server);
      const answer: unknown = await call(client, "odd").catch((error: unknown) => error);
      // Revisions without structured content never have to write it.
      const isCarried = cell.revision >= "2025-06-18" || log.length > 0;
      if (isCarried) {
        const told = answer instanceof Error ? answer.message : textOf(answer as CallToolResult);
        const id = /error id ([0-9a-f]+)/.exec(told)?.[1];
        expect(id).toBeDefined();
        expect(log).toHaveLength(1);
        expect(log[0]?.details?.["errorId"]).toBe(id);
        expect(log[0]?.details?.["error"]).toBeInstanceOf(TypeError);
      }
      expect(textOf(await call(client, "fine"))).toBe("fine");
    },
  );
});

describeMatrix("errors on purpose", {}, (cell) => {
  test("a ProtocolError of a tool keeps its code, message and data", async () => {
    const { server, log } = makeServer();
    server.tool("limit", {}, () => {
      throw new ProtocolError(-31001, "Too many calls", { retryAfterMs: 500 });
    });
    server.tool("params", {}, async () => {
      throw new ProtocolError(errorCodes.invalidParams, "No such region");
    });
    const client = await open(cell, server);
    expect(await refusal(call(client, "limit"))).toMatchObject({
      code: -31001,
      message: "Too many calls",
      data: { retryAfterMs: 500 },
    });
    expect(await refusal(call(client, "params"))).toMatchObject({ code: -32602, message: "No such region" });
    expect(log).toEqual([]);
  });
});
