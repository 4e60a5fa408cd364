// resources/list and resources/read: how a resource is published, what a reader may return, which URIs are refused.
import { Buffer } from "node:buffer";
import { ConfigurationError, type JsonObject, ProtocolError, ResourceNotFoundError } from "halyard";
import { describe, expect, test } from "vitest";
import { list, makeServer, open, refusal } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("resources", {}, (cell) => {
  const notFound = cell.era === "modern" ? -32602 : -32002;

  test("a server that offers resources declares the capability, and one that does not has no resource methods [RES-CAP]", async () => {
    const { server } = makeServer();
    const client = await open(cell, server);
    expect(server.capabilities(cell.revision).resources).toBeUndefined();
    for (const method of ["resources/list", "resources/templates/list", "resources/read"]) {
      expect((await refusal(client.request(method, { uri: "a:b" }))).code).toBe(-32601);
    }
    server.resource("note:///a", {}, () => "A");
    expect(server.capabilities(cell.revision).resources).toEqual({ subscribe: true, listChanged: true });
    expect((await list(client, "resources/list")).length).toBe(1);
  });

  test("a resource is listed with what this revision knows of it", async () => {
    const { server } = makeServer();
    const annotations = { audience: ["user" as const], priority: 1, lastModified: "2026-01-01T00:00:00Z" };
    const icons = [{ src: "data:image/png;base64,AA==" }];
    server.resource(
      "note:///a",
      {
        name: "a",
        title: "A",
        description: "First",
        mimeType: "text/plain",
        size: 1,
        annotations,
        icons,
        _meta: { k: 1 },
      },
      () => "A",
    );
    server.resource("note:///bare", {}, () => "B");
    const [rich, bare] = await list(await open(cell, server), "resources/list");
    const { lastModified: _, ...older } = annotations;
    expect(rich).toEqual({
      uri: "note:///a",
      name: "a",
      description: "First",
      mimeType: "text/plain",
      size: 1,
      annotations: cell.revision >= "2025-06-18" ? annotations : older,
      ...(cell.revision >= "2025-06-18" && { title: "A", _meta: { k: 1 } }),
      ...(cell.revision >= "2025-11-25" && { icons }),
    });
    expect(bare).toEqual({ uri: "note:///bare", name: "note:///bare" });
  });

  test("text is read as text, with the type that was declared [RES-CONTENTS-ONEOF]", async () => {
    const { server } = makeServer();
    server.resource("note:///a", { mimeType: "text/markdown" }, async ({ uri }) => `# ${uri}`);
    const client = await open(cell, server);
    expect((await client.request("resources/read", { uri: "note:///a" }))["contents"]).toEqual([
      { uri: "note:///a", mimeType: "text/markdown", text: "# note:///a" },
    ]);
  });

  test("bytes are read as base64, whatever the bytes and however many [RES-SEC-ENCODE, RES-CONTENTS-ONEOF]", async () => {
    const { server } = makeServer();
    for (const length of [0, 1, 2, 3, 70_000]) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + 255) % 256);
      server.resource(`bin:///${length}`, { mimeType: "application/octet-stream" }, () => bytes);
    }
    // A view into a larger buffer must not show the rest of it.
    const shared = new Uint8Array([9, 1, 2, 9]).subarray(1, 3);
    server.resource("bin:///view", {}, () => shared);
    const client = await open(cell, server);
    for (const length of [0, 1, 2, 3, 70_000]) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + 255) % 256);
      const { contents } = await client.request("resources/read", { uri: `bin:///${length}` });
      const blob = Buffer.from(bytes).toString("base64");
      expect(contents).toEqual([{ uri: `bin:///${length}`, mimeType: "application/octet-stream", blob }]);
    }
    expect((await client.request("resources/read", { uri: "bin:///view" }))["contents"]).toEqual([
      { uri: "bin:///view", blob: "AQI=" },
    ]);
  });

  test("a reader may return several contents [RES-READ-MULTI]", async () => {
    const { server } = makeServer();
    server.resource("dir:///", {}, () => [
      { uri: "dir:///a", text: "A", _meta: { k: 1 } },
      { uri: "dir:///b", mimeType: "image/png", blob: "AA==" },
    ]);
    const client = await open(cell, server);
    expect((await client.request("resources/read", { uri: "dir:///" }))["contents"]).toEqual([
      { uri: "dir:///a", text: "A", ...(cell.revision >= "2025-06-18" && { _meta: { k: 1 } }) },
      { uri: "dir:///b", mimeType: "image/png", blob: "AA==" },
    ]);
  });

  test.each([
    ["an empty list", []],
    ["nothing", undefined],
    ["null", null],
    ["a number", 4],
    ["contents without a uri", { text: "x" }],
    ["contents without text or blob", { uri: "a:b" }],
    ["contents with text and blob", { uri: "a:b", text: "x", blob: "AA==" }],
    ["one bad item among good ones", [{ uri: "a:b", text: "x" }, { uri: "a:c" }]],
  ])(
    "a reader that returns %s fails and is never taken for an empty resource [RES-NOT-FOUND-EMPTY, RES-CONTENTS-ONEOF, RES-INTERNAL-ERR]",
    async (_, returned) => {
      const { server, log } = makeServer();
      server.resource("odd:///", {}, (() => returned) as never);
      const client = await open(cell, server);
      const error = await refusal(client.request("resources/read", { uri: "odd:///" }));
      expect(error.code).toBe(-32603);
      expect(log[0]?.details?.["errorId"]).toBe((error.data as JsonObject)["errorId"]);
    },
  );

  test("an unknown resource is an error with the code of the revision and the URI [RES-NOT-FOUND-MODERN, RES-NOT-FOUND-LEGACY, RES-NOT-FOUND-EMPTY]", async () => {
    const { server, log } = makeServer();
    server.resource("note:///a", {}, () => "A");
    const client = await open(cell, server);
    for (const uri of ["note:///b", "note:///A", "constructor:x", "other:///a"]) {
      const error = await refusal(client.request("resources/read", { uri }));
      expect(error).toMatchObject({ code: notFound, data: { uri } });
    }
    expect(log).toEqual([]);
  });

  test("a reader's ResourceNotFoundError has the code of the revision [RES-NOT-FOUND-MODERN, RES-NOT-FOUND-LEGACY]", async () => {
    const { server, log } = makeServer();
    server.resourceTemplate("note:///{id}", {}, async ({ uri }) => {
      throw new ResourceNotFoundError(uri);
    });
    const client = await open(cell, server);
    const error = await refusal(client.request("resources/read", { uri: "note:///9" }));
    expect(error).toMatchObject({ code: notFound, data: { uri: "note:///9" } });
    expect(log).toEqual([]);
  });

  test("a reader's ProtocolError is passed on", async () => {
    const { server } = makeServer();
    server.resource("note:///a", {}, () => {
      throw new ProtocolError(-31000, "Locked", { by: "ada" });
    });
    const client = await open(cell, server);
    expect(await refusal(client.request("resources/read", { uri: "note:///a" }))).toMatchObject({
      code: -31000,
      message: "Locked",
      data: { by: "ada" },
    });
  });

  test.skipIf(cell.transport === "http" && cell.era === "modern").each([
    ["no uri", {}],
    ["a number", { uri: 4 }],
    ["an object", { uri: { toString: "x" } }],
    ["no scheme", { uri: "notes/a" }],
    ["a relative reference", { uri: "/etc/passwd" }],
    ["a scheme that begins with a digit", { uri: "1a:b" }],
    ["a space", { uri: "note:///a b" }],
    ["a line break", { uri: "note:///a\nb" }],
    ["a null character", { uri: "note:///a\u0000" }],
    ["an escape that is none", { uri: "note:///%zz" }],
    ["a character outside of ASCII", { uri: "note:///å" }],
    ["far too much", { uri: `note:///${"a".repeat(9000)}` }],
  ])("resources/read with %s as the URI is -32602 [RES-SEC-VALIDATE-URI]", async (_, params) => {
    const { server, log } = makeServer();
    let reads = 0;
    server.resourceTemplate("note:///{+path}", {}, () => `${++reads}`);
    const client = await open(cell, server);
    expect((await refusal(client.request("resources/read", params))).code).toBe(-32602);
    expect(reads).toBe(0);
    expect(log).toEqual([]);
  });

  test.each([
    "file:///data/../etc/passwd",
    "file:///data/..",
    "file:///../etc/passwd",
    "FILE:///data/../etc/passwd",
    "file:///data/%2e%2e/etc/passwd",
    "file:///data/%2E./etc/passwd",
    "file:///data/..%2fetc/passwd",
    "file:///data%2f..%2fetc/passwd",
    "file:///data/..%5cetc",
    "file:///data/..?x",
    "file:///data/..#x",
    "file:../etc/passwd",
    "file:..%2fetc",
  ])(
    "resources/read of %s never reaches the reader [RES-SEC-TRAVERSAL, RES-SEC-VALIDATE-URI]",
    async (uri) => {
      const { server } = makeServer();
      let reads = 0;
      server.resourceTemplate("file:{+path}", {}, () => `${++reads}`);
      const client = await open(cell, server);
      expect((await refusal(client.request("resources/read", { uri }))).code).toBe(-32602);
      expect(reads).toBe(0);
    },
  );

  test("dots in a file name are no traversal", async () => {
    const { server } = makeServer();
    server.resourceTemplate("file:///{+path}", {}, ({ params }) => params.path);
    const client = await open(cell, server);
    for (const path of ["a..b", "..a/b..", "a/.../b", "v1.2/..hidden"]) {
      const { contents } = await client.request("resources/read", { uri: `file:///${path}` });
      expect(contents).toMatchObject([{ text: path }]);
    }
  });

  test("a disabled resource is neither listed nor readable", async () => {
    const { server } = makeServer();
    const handle = server.resource("note:///a", {}, () => "A");
    const client = await open(cell, server);
    handle.disable();
    expect(await list(client, "resources/list")).toEqual([]);
    expect((await refusal(client.request("resources/read", { uri: "note:///a" }))).code).toBe(notFound);
    handle.enable();
    expect(await list(client, "resources/list")).toHaveLength(1);
    expect(await client.request("resources/read", { uri: "note:///a" })).toHaveProperty("contents");
  });
});

describeMatrix("subscribing", { eras: ["legacy"] }, (cell) => {
  test("resources/subscribe is answered where it is advertised", async () => {
    const { server } = makeServer();
    server.resource("note:///a", {}, () => "A");
    const client = await open(cell, server);
    expect(server.capabilities(cell.revision).resources?.subscribe).toBe(true);
    expect(await client.request("resources/subscribe", { uri: "note:///a" })).toEqual({});
    expect(await client.request("resources/unsubscribe", { uri: "note:///a" })).toEqual({});
    expect((await refusal(client.request("resources/subscribe", { uri: 5 }))).code).toBe(-32602);
  });
});

describe("resource URIs", () => {
  test.each(["note:///a", "urn:isbn:0451450523", "x-my.scheme+1:a", "https://example.com/?q=1#f", "a:"])(
    "%s can be registered [RES-CUSTOM-SCHEME]",
    (uri) => {
      expect(() => makeServer().server.resource(uri, {}, () => "")).not.toThrow();
    },
  );

  test.each(["", "note", "/a", "1x:a", "my_scheme:a", "no te:a", "note:///a b", "note:///%", "://a", "ä:b"])(
    "%j is refused at registration [RES-CUSTOM-SCHEME, RES-SEC-VALIDATE-URI]",
    (uri) => {
      expect(() => makeServer().server.resource(uri, {}, () => "")).toThrow(
        expect.objectContaining({ name: ConfigurationError.name, code: "INVALID_NAME", field: "uri" }),
      );
    },
  );
});
