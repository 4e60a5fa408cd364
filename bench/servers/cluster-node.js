// One node of a cluster over HTTP: Halyard with the backplane that `backplane` names, or without one.
import { connect } from "@nats-io/transport-node";
import { createClient } from "@redis/client";
import { memoryBackplane } from "halyard/cluster";
import { natsBackplane } from "halyard/nats";
import { serveHttp } from "halyard/node";
import { redisBackplane } from "halyard/redis";
import { answerParent } from "../child-commands.js";
import { halyardServer } from "./halyard.js";

const { mode, backplane } = JSON.parse(process.argv[2]);

async function open(url) {
  if (url === undefined) return undefined;
  if (url === "memory") return memoryBackplane();
  if (url.startsWith("redis:")) return redisBackplane(createClient({ url }));
  return natsBackplane(await connect({ servers: url, maxReconnectAttempts: -1 }));
}

const server = halyardServer({
  schema: "zod",
  fillers: 0,
  options: { mode: mode === "stateless" ? "stateless" : "both", backplane: await open(backplane) },
});
server.resourceTemplate("note:///{id}", { name: "note" }, () => "note");
server.tool("ask", {}, async (_, ctx) => {
  const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  return (await ctx.elicit("Who?", form, { key: "name" })).name;
});

const nanos = () => String(process.hrtime.bigint());
const cancelled = [];
let called = () => {};
server.tool("wait", {}, (_, ctx) => {
  called();
  return new Promise((resolve) => {
    ctx.signal.addEventListener("abort", () => {
      cancelled.push(nanos());
      resolve("cancelled");
    });
  });
});

/** Resolves when the tool `wait` runs. */
const waits = () => new Promise((resolve) => (called = () => resolve()));

/** When the last call was cancelled, once it is. */
async function cancelledAt() {
  while (cancelled.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  return cancelled.pop();
}

/** Sends one message that carries the time. */
const push = ({ session }) => server.push.toSession(session, "notifications/acme/at", { at: nanos() });

const announce = () => server.push.publish("notifications/tools/list_changed");

const { port } = await serveHttp(server, {
  port: 0,
  keepAliveMs: 600_000,
  limits: { maxListensPerPrincipal: 20_000 },
});
answerParent({ waits, cancelledAt, push, announce }, { port });
