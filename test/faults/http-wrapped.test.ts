// Middleware in front stands in for a method of the response, as compression and cookies do: replies come through whole.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeHandler } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { makeServer } from "../support/catalogue.ts";
import { modernPost, sendTo } from "../support/http.ts";
import { modernCall } from "../support/http-server.ts";

/** Sets each header by itself. Of an array it expects pairs, as much that is installed does. */
function wrapWriteHead(response: ServerResponse): void {
  const { writeHead } = response;
  response.writeHead = (status: number, headers: unknown) => {
    const pairs = Array.isArray(headers) ? (headers as string[]) : Object.entries(headers as object);
    for (const [name = "", value] of pairs) response.setHeader(name, value as string);
    return writeHead.call(response, status);
  };
}

/** Keeps everything until the end. */
function wrapWrites(response: ServerResponse): void {
  const kept: Buffer[] = [];
  const { end } = response;
  const keep = (piece: string | Buffer = "", encoding?: BufferEncoding): void =>
    void kept.push(Buffer.from(piece as string, encoding));
  response.write = (piece: string | Buffer, encoding?: unknown) => {
    keep(piece, encoding as BufferEncoding);
    return true;
  };
  response.end = ((piece?: string, encoding?: BufferEncoding) => {
    keep(piece, encoding);
    return end.call(response, Buffer.concat(kept), "utf8");
  }) as ServerResponse["end"];
}

test.each([
  ["writeHead", wrapWriteHead],
  ["write and end", wrapWrites],
])("of %s", async (_, wrap) => {
  const { server } = makeServer();
  const texts = ["short", "é€😀x".repeat(30_000)];
  server.tool("first", {}, () => texts[0] ?? "");
  server.tool("second", {}, () => texts[1] ?? "");
  const handler = nodeHandler(server, { graceMs: 50 });
  const http = createServer((request, response) => {
    wrap(response);
    void handler(request, response);
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  for (const [at, name] of ["first", "second"].entries()) {
    const reply = await sendTo(port, modernPost(modernCall(1, name)));
    expect(reply.headers).toMatchObject({ "content-type": "application/json" });
    expect((await reply.answer()).result).toMatchObject({ content: [{ type: "text", text: texts[at] }] });
  }
});
