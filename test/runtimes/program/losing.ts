// A call whose connection is lost, or that is cancelled, on a connection that carried others before: it runs once, and stops.
import {
  connect as connectSocket,
  createServer as createSocketServer,
  type AddressInfo,
  type Socket,
} from "node:net";
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { serveHttp } from "halyard/node";
import { call } from "./calls.ts";
import { until } from "./server.ts";

export async function checkLosing(): Promise<object> {
  const runs = { cut: 0, wait: 0, stopped: 0 };
  const server = new McpServer({ name: "losing", version: "1.0.0" });
  server.tool("first", {}, () => "first");
  server.tool("cut", {}, () => {
    runs.cut++;
    proxy.cut();
    return new Promise<string>(() => {});
  });
  server.tool("wait", {}, (_, ctx) => {
    runs.wait++;
    ctx.signal.addEventListener("abort", () => runs.stopped++);
    return new Promise<string>(() => {});
  });
  const { port, close } = await serveHttp(server, { port: 0, graceMs: 0 });
  const proxy = await startProxy(port);
  const client = await connect(proxy.url, { reissue: "never" });
  await call(client, "first");
  const lost = (await client.callTool("cut").catch((error: unknown) => error)) as {
    code?: unknown;
    mayHaveRun?: unknown;
  };
  await call(client, "first");
  const leaving = new AbortController();
  const waiting = client.callTool("wait", {}, { signal: leaving.signal });
  const left = waiting.catch((error: Error) => error.name);
  await until(() => runs.wait > 0);
  leaving.abort();
  await until(() => runs.stopped > 0);
  const seen = { lost: [lost.code, lost.mayHaveRun], left: await left, again: await call(client, "first") };
  await client.close();
  await close();
  await proxy.close();
  return { ...seen, runs };
}

/** A proxy that can cut its connections. */
async function startProxy(port: number) {
  const sockets = new Set<Socket>();
  const add = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  };
  const proxy = createSocketServer((near) => {
    const far = add(connectSocket(port, "127.0.0.1"));
    add(near).pipe(far).pipe(near);
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    cut,
    close: () => {
      cut();
      return new Promise((resolve) => proxy.close(resolve));
    },
  };
}
