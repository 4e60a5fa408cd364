// Mcp-Method and Mcp-Name repeat the body; the order in which everything about a modern request is checked.
import type { JsonObject } from "halyard";
import { expect, test } from "vitest";
import { describeEdges, type HttpEdge, modernPost } from "../../support/http.ts";
import { httpServer, modernCall } from "../../support/http-server.ts";
import { metaKeys, modernMeta, modernRequest } from "../../support/raw.ts";
import { openRaw } from "../../support/raw-socket.ts";

type Headers = Record<string, string | undefined>;

async function outcome(edge: HttpEdge, message: JsonObject, headers: Headers): Promise<unknown> {
  const reply = await edge.send(modernPost(message, headers));
  const { error, id } = await reply.answer();
  expect(id).toBe(message["id"]);
  return error === undefined ? reply.status : [reply.status, error.code];
}

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

describeEdges("mirrored headers", (open) => {
  test.each<[string, Headers]>([
    ["they say what the body says", {}],
    ["blanks surround the method", { "mcp-method": "  tools/call\t" }],
    ["blanks surround the name", { "mcp-name": " echo " }],
    ["the name is in base64", { "mcp-name": base64("echo") }],
    ["their names are in capitals", { "mcp-method": undefined, "MCP-METHOD": "tools/call" }],
  ])(
    "a request is answered when %s [HTTP26-HEADER-NAME-CI, HTTP26-HEADER-VALUE-CS, HTTP26-MCP-NAME-DECODE]",
    async (_, headers) => {
      const edge = await open(httpServer().server);
      expect(await outcome(edge, modernCall(1, "echo"), headers)).toBe(200);
    },
  );

  test.each<[string, Headers]>([
    ["Mcp-Method is missing", { "mcp-method": undefined }],
    ["Mcp-Method is another one", { "mcp-method": "tools/list" }],
    ["Mcp-Method is written otherwise", { "mcp-method": "Tools/Call" }],
    ["Mcp-Method is in base64, which only names may be", { "mcp-method": base64("tools/call") }],
    ["Mcp-Name is missing", { "mcp-name": undefined }],
    ["Mcp-Name is empty", { "mcp-name": "" }],
    ["Mcp-Name is another one", { "mcp-name": "wait" }],
    ["Mcp-Name is written otherwise", { "mcp-name": "Echo" }],
    ["Mcp-Name is another one in base64", { "mcp-name": base64("wait") }],
    ["the base64 of Mcp-Name has no padding", { "mcp-name": "=?base64?ZWNobw?=" }],
    ["the base64 of Mcp-Name has another alphabet", { "mcp-name": "=?base64?-_-_?=" }],
    ["the markers of Mcp-Name are in capitals", { "mcp-name": "=?BASE64?ZWNobw==?=" }],
  ])(
    "a request is 400 with -32020 when %s [HTTP26-VALIDATE-MATCH, HTTP26-VALIDATE-400-32020, HTTP26-HEADER-VALUE-CS, XMH-SENTINEL-EXACT]",
    async (_, headers) => {
      const edge = await open(httpServer().server);
      expect(await outcome(edge, modernCall("a", "echo"), headers)).toEqual([400, -32020]);
    },
  );

  test("a name that a header cannot carry travels in base64 [HTTP26-MCP-NAME-DECODE]", async () => {
    const edge = await open(httpServer().server);
    const get = modernRequest(1, "prompts/get", { name: "grüße" });
    expect(await outcome(edge, get, { "mcp-name": base64("grüße") })).toBe(200);
    expect(await outcome(edge, get, { "mcp-name": base64("grusse") })).toEqual([400, -32020]);
  });

  test("a name in base64 that is not UTF-8 is refused, even when the body has none [HTTP26-VALIDATE-400-32020]", async () => {
    const edge = await open(httpServer().server);
    const message = modernRequest(1, "tools/call", {});
    expect(await outcome(edge, message, { "mcp-name": "=?base64?/w==?=" })).toEqual([400, -32020]);
  });

  test("a method that mirrors no name needs no Mcp-Name, and does not look at one", async () => {
    const edge = await open(httpServer().server);
    expect(await outcome(edge, modernRequest(1, "tools/list"), { "mcp-name": "whatever" })).toBe(200);
  });

  test("a client that does not say who it is, is served [HTTP26-CLIENTINFO-ABSENT-OK]", async () => {
    const edge = await open(httpServer().server);
    const message = modernCall(1, "echo");
    expect((message["params"] as { _meta: object })._meta).not.toHaveProperty(metaKeys.clientInfo);
    expect(await outcome(edge, message, {})).toBe(200);
  });
});

/** Each request has one fault more than the one before. The error names the fault that is checked first. */
const faults: readonly [string, JsonObject, Headers, readonly [number, number]][] = [
  ["the capability that its method needs", modernMeta(), {}, [400, -32021]],
  ["the method", modernMeta(), { method: "no/such", "mcp-method": "no/such" }, [404, -32601]],
  [
    "the version",
    modernMeta({ [metaKeys.protocolVersion]: "2099-01-01" }),
    { method: "no/such", "mcp-method": "no/such", "mcp-protocol-version": "2099-01-01" },
    [400, -32022],
  ],
  [
    "what header and body say",
    modernMeta({ [metaKeys.protocolVersion]: "2099-01-01" }),
    { method: "no/such", "mcp-method": "no/such" },
    [400, -32020],
  ],
  [
    "the _meta",
    { [metaKeys.clientCapabilities]: {} },
    { method: "no/such", "mcp-method": "other" },
    [400, -32602],
  ],
  [
    "the capabilities in _meta",
    { [metaKeys.protocolVersion]: "2099-01-01" },
    { method: "no/such", "mcp-method": "other" },
    [400, -32602],
  ],
  ["all of _meta", {}, { method: "no/such", "mcp-method": "other" }, [400, -32602]],
  ["the headers", {}, { method: "no/such", "mcp-method": undefined }, [400, -32020]],
];

describeEdges("order of checks", (open) => {
  test.each(faults)(
    "what is told first is %s [HTTP26-VALIDATION-ORDER, HTTP26-META-MISSING-400, HTTP26-METHOD-404, VER-CAP-MISSING-HTTP-400]",
    async (_, meta, { method = "tools/call", ...headers }, expected) => {
      const { server } = httpServer();
      server.tool("picky", { requires: { sampling: {} } }, () => "never");
      const edge = await open(server);
      const message = { jsonrpc: "2.0", id: 9, method, params: { name: "picky", _meta: meta } };
      expect(await outcome(edge, message, headers)).toEqual(expected);
    },
  );
});

describeEdges(
  "characters that no header may have",
  (open) => {
    test("are refused where a header repeats the body, even if the body has them too [HTTP26-VALIDATE-400-32020]", async () => {
      const { server } = httpServer();
      const edge = await open(server);
      const body = JSON.stringify(modernRequest(1, "resources/read", { uri: "note:///ä" }));
      const reply = await openRaw(edge.port).request(
        Buffer.from(
          `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: note:///ä\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`,
          "latin1",
        ),
        Buffer.from(body),
      );
      expect(reply).toContain("HTTP/1.1 400");
      expect(reply).toContain("-32020");
    });
  },
  ["serveHttp", "nodeHandler"],
);
