// The target of a request: a path, or a whole URL, whose host has to be allowed too.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { nodeHandler } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { describeEdges, modernPost } from "../../support/http.ts";
import { discover, httpServer } from "../../support/http-server.ts";
import { openRaw } from "../../support/raw-socket.ts";

async function statusOf(port: number, target: string, host = "localhost"): Promise<string> {
  const { headers, body } = modernPost(discover);
  const given = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  const lines = given.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const length = `Content-Length: ${String(body).length}\r\nConnection: close\r\n\r\n`;
  const text = await openRaw(port).request(
    `POST ${target} HTTP/1.1\r\nHost: ${host}\r\n${lines}${length}${body}`,
  );
  return text.slice(9, 12);
}

const targets: readonly (readonly [string, string, string])[] = [
  ["http://127.0.0.1:3000/mcp", "localhost", "200"],
  ["HTTP://LOCALHOST/mcp?x=1", "localhost:3000", "200"],
  ["https://localhost/mcp", "localhost", "200"],
  ["http://127.0.0.1:3000/other", "localhost", "404"],
  ["http://127.0.0.1:3000", "localhost", "404"],
  ["http://evil.example/mcp", "localhost", "403"],
  ["http://localhost@evil.example/mcp", "localhost", "403"],
  ["http://user@localhost/mcp", "localhost", "403"],
  ["http:///mcp", "localhost", "403"],
  ["http://localhost/mcp", "evil.example", "403"],
  ["ftp://localhost/mcp", "localhost", "404"],
  ["*", "localhost", "404"],
  ["localhost:3000", "localhost", "400"],
];

describeEdges(
  "the target",
  (open) => {
    test.each(targets)("%s for the host %s is %s", async (target, host, status) => {
      const { port } = await open(httpServer().server);
      expect(await statusOf(port, target, host)).toBe(status);
    });
  },
  ["serveHttp", "nodeHandler"],
);

test("a whole URL reaches a handler that Express mounts, at its path or below another", async () => {
  const handler = nodeHandler(httpServer().server);
  const below = nodeHandler(httpServer().server, { path: "/api/mcp" });
  const app = express().all("/mcp", handler).use("/api", below);
  const http = createServer(app).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => void http.close());
  const { port } = http.address() as AddressInfo;
  expect(await statusOf(port, `http://127.0.0.1:${port}/mcp`)).toBe("200");
  expect(await statusOf(port, `http://127.0.0.1:${port}/api/mcp`)).toBe("200");
  expect(await statusOf(port, "http://evil.example/mcp")).toBe("403");
});
