// How a server closes while clients are connected, and what becomes of one that does not read.
import { connect as connectSocket, type Socket } from "node:net";
import { connect, type McpClient } from "halyard/client";
import { serveHttp } from "halyard/node";
import { protocolRevisions } from "halyard/testing";
import { createServer, pause, until } from "./server.ts";

const bigBytes = 20_000_000;
const newest = protocolRevisions[0]?.date ?? "";

/** Closes a server whose clients wait for a call, listen, read slowly, or are only connected. */
export async function checkClosing(): Promise<object> {
  const { url, port, close, stats } = await serveHttp(createServer(), { port: 0, graceMs: 5000 });
  const client = await connect(url, { reissue: "never" });
  const listening = await client.listen({ tools: true });
  const running = begin(client);
  await running.begun;
  const slow = await request(port, "big", bigBytes);
  const idle = await openSocket(port);
  await until(() => stats().unsentBytes > 0);
  const closing = close();
  const answered = await running.answered;
  await pause(50);
  slow.read();
  await closing;
  const body = await slow.ended;
  await listening.close();
  await client.close();
  idle.destroy();
  const late = await openSocket(port).then(
    () => "accepted",
    () => "refused",
  );
  const { sessions, streams, inFlight, unsentBytes } = stats();
  const open = { sessions, streams, inFlight, unsentBytes };
  return { answered: answered.content, isWhole: body.length > bigBytes, late, open };
}

/** Begins a call, and says when the server runs it. */
function begin(client: McpClient) {
  let began: () => void = () => {};
  const begun = new Promise<void>((resolve) => (began = resolve));
  return { begun, answered: client.callTool("steps", {}, { onProgress: () => began() }) };
}

/** A client that does not read is disconnected after `stallMs`. */
export async function checkSlowReader(): Promise<object> {
  const { port, close, stats } = await serveHttp(createServer(), { port: 0, stallMs: 1500 });
  const slow = await request(port, "big", bigBytes);
  await until(() => stats().unsentBytes > 0);
  const most = stats().unsentBytes;
  await until(() => stats().unsentBytes === 0);
  slow.read();
  const body = await slow.ended;
  await close();
  return { isCounted: most > 1_000_000, isCut: body.length < bigBytes };
}

/** Sends a call on a connection of its own. The test decides when it reads the response. */
async function request(port: number, name: string, size: number) {
  const socket = await openSocket(port);
  socket.pause();
  const meta = {
    "io.modelcontextprotocol/protocolVersion": newest,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name, arguments: { size }, _meta: meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const lines = [
    "POST /mcp HTTP/1.1",
    "host: 127.0.0.1",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `mcp-protocol-version: ${newest}`,
    "mcp-method: tools/call",
    `mcp-name: ${name}`,
    `content-length: ${body.length}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  let text = "";
  const ended = new Promise<string>((resolve) => {
    socket.once("close", () => resolve(text));
  });
  const read = (): void => {
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    socket.resume();
  };
  return { read, ended };
}

async function openSocket(port: number): Promise<Socket> {
  const socket = connectSocket(port, "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.on("error", () => {});
  return socket;
}
