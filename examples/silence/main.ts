// A server whose berth 4 changes every second, a client that hears of it, and six that do not.
import { setTimeout as sleep } from "node:timers/promises";
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { LegacyClient } from "./legacy-client.ts";

const server = new McpServer({ name: "harbour", version: "1.0.0" });
server.resourceTemplate("berth:///{id}", { name: "berth" }, ({ params }) => `Berth ${params.id}`);

const page = dashboard({ tryIt: true, onOpen: () => {} });
const { url, stats } = await serveHttp(server, {
  port: Number(process.env["PORT"] ?? 3000),
  // A log of a few entries is soon too short, and clients that are away or slow are to stay.
  limits: { maxStreamBytes: 100 },
  stallMs: 3_600_000,
  resumeWindowMs: 3_600_000,
  // Its clients live in the same process, and end with it.
  handleSignals: false,
  dashboard: page,
});
console.log(`Serving on ${url}. Find out who hears nothing, and why:\n\n${page.url}\n`);

for (const begin of [hearing, neverConnected, withoutStream, hungUp, slow, elsewhere, forgetful])
  void begin();

for (;;) {
  await sleep(1_000);
  await server.resources.updated("berth:///4");
  // Berth 5 changes too, but this server does not say so.
}

/** Hears of every change. */
async function hearing(): Promise<void> {
  const client = await connect(url, { info: { name: "hears-everything", version: "1.0.0" } });
  await client.listen({ resources: ["berth:///4", "berth:///5"] }, () => {});
}

/** Sends the id of a session that ended long ago, and does not start over when the server responds with 404. */
async function neverConnected(): Promise<void> {
  const headers = { accept: "text/event-stream", "mcp-session-id": "of-yesterday" };
  setInterval(() => void fetch(url, { headers }).then((response) => response.text()), 3_000);
}

/** Subscribes, but never opens the stream on which changes arrive. */
async function withoutStream(): Promise<void> {
  const client = await LegacyClient.open(url, "without-stream");
  await client.subscribe("berth:///4");
}

/** Loses its stream, and does not come back. */
async function hungUp(): Promise<void> {
  const client = await LegacyClient.open(url, "hung-up");
  await client.subscribe("berth:///4");
  await client.listen({ reads: true });
  await sleep(6_000);
  client.hangUp();
}

/** Has a stream, but does not read it. */
async function slow(): Promise<void> {
  const client = await LegacyClient.open(url, "reads-nothing");
  await client.subscribe("berth:///4");
  await client.listen({ reads: false });
  // Enough to fill the buffers of the system.
  while (stats().unsentBytes < 65_536) {
    const data = "A page of the manifest. ".repeat(2_000);
    await server.push.toSession(client.session, "notifications/message", { level: "info", data });
    await sleep(1);
  }
}

/** Subscribes to another URI than the one that changes. */
async function elsewhere(): Promise<void> {
  const client = await LegacyClient.open(url, "listens-elsewhere");
  await client.subscribe("berth:///04");
  await client.listen({ reads: true });
}

/** Loses its stream again and again, and resumes from a place that the log has dropped. */
async function forgetful(): Promise<void> {
  const client = await LegacyClient.open(url, "forgets-its-place");
  await client.subscribe("berth:///4");
  for (;;) {
    await client.listen({ reads: true });
    await sleep(12_000);
    client.hangUp();
    await sleep(4_000);
  }
}
