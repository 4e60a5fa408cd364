// HTTP requests on Node: connections are kept for the next request, briefly, and never keep the process running.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { McpServer } from "halyard";
import { serveHttp } from "halyard/node";
import { expect, onTestFinished, test } from "vitest";
import { event, newestLegacy, responseTo, start } from "../../support/http-script.ts";
import { until } from "../../support/turns.ts";

test("one connection carries many requests, whatever their replies are", async () => {
  const { server, client } = await start();
  server.on("json", ({ result }) => result());
  server.on("events", (asked) => {
    asked.stream()(event(responseTo(asked)));
    asked.response.end();
  });
  server.on("error", ({ refuse }) => refuse(400, { error: "x" }));
  for (let round = 0; round < 5; round++) {
    await client.request("json");
    await client.request("events");
    await client.request("error").catch(() => {});
    await client.notify("notifications/custom");
    // The end of a stream may arrive after its response.
    await until(() => server.asked.every(({ response }) => response.writableFinished));
  }
  expect(new Set(server.asked.map(({ socket }) => socket)).size).toBeLessThanOrEqual(2);
});

test("a connection that is idle is closed before servers usually do", async () => {
  const { server, client } = await start();
  server.on("work", ({ result }) => result());
  await client.request("work");
  await until(() => server.sockets.size === 0);
  await client.request("work");
  expect(new Set(server.of("work").map(({ socket }) => socket)).size).toBe(2);
});

const program = `
import { connect } from "halyard/client";
const [url, revision, shallClose] = process.argv.slice(1);
const client = await connect(url, { revision });
await client.callTool("hello");
if (shallClose === "close") await client.close();
console.log("done");
`;

/** Runs the program, and resolves with its exit code once it has said that it is done. */
async function run(...args: string[]): Promise<{ code: number | null }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  await once(child.stdout, "data");
  const [code] = (await once(child, "exit")) as [number | null];
  return { code };
}

test("a process ends when its client is closed, or idle without a stream", async () => {
  const server = new McpServer({ name: "demo", version: "1.0.0" });
  server.tool("hello", {}, () => "Hello");
  const http = await serveHttp(server, { port: 0, graceMs: 50 });
  onTestFinished(() => http.close());
  expect(await run(http.url, "2026-07-28", "close")).toMatchObject({ code: 0 });
  expect(await run(http.url, "2026-07-28", "leave")).toMatchObject({ code: 0 });
  expect(await run(http.url, newestLegacy, "close")).toMatchObject({ code: 0 });
});
