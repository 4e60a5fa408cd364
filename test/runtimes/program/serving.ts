// The servers of the checks, each in a process of its own.
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { bearerAuth } from "halyard/auth";
import { nodeHandler, serveHttp } from "halyard/node";
import { serveStdio } from "halyard/stdio";
import { createServer } from "./server.ts";

/** Serves over HTTP, prints the URL, and closes when its input ends. */
export async function serveHere(): Promise<void> {
  const { url, close } = await serveHttp(createServer(), { port: 0, legacySse: true });
  console.log(url);
  await endOfInput();
  await close();
}

/** The same with `nodeHandler`, for callers who have a token of this authorization server. */
export async function serveProtected(issuer = ""): Promise<void> {
  const http = createHttpServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const auth = bearerAuth({ resource: url, authorizationServers: [issuer] });
  const handler = nodeHandler(createServer(), { auth });
  http.on("request", handler);
  console.log(url);
  await endOfInput();
  await handler.close();
  http.close();
  http.closeAllConnections();
}

/** Serves over stdio, and prints to standard output in its own turn. */
export async function serveStandardIo(): Promise<void> {
  console.log("noise: before");
  await serveStdio(createServer());
  console.log("noise: after");
}

function endOfInput(): Promise<void> {
  return new Promise((resolve) => void process.stdin.resume().once("end", () => resolve()));
}
