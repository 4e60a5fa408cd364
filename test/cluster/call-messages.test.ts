// Progress and log messages of a call in a cluster: nothing of them is stored, so they have no event id to come back to.
import type { McpServer } from "halyard";
import { expect, test } from "vitest";
import { serveCluster } from "../support/cluster.ts";
import { SessionClient } from "../support/sessions.ts";

const count = 20;

function define(server: McpServer): void {
  server.tool("work", {}, (_, ctx) => {
    for (let at = 1; at <= count; at++) {
      ctx.progress(at, count);
      ctx.log("info", at);
    }
    return "done";
  });
}

test("they reach the client without an event id, and cost no operation of the engine", async () => {
  const [node] = await serveCluster({ nodes: 1, define });
  const client = await SessionClient.open(node);
  node.engine.forget();
  const params = { name: "work", arguments: {}, _meta: { progressToken: "p" } };
  const reply = await client.start("tools/call", params);
  await reply.closed;
  const events = reply.events.filter(({ data }) => data);
  expect(events).toHaveLength(2 * count + 1);
  const [response, ...others] = events.toReversed();
  expect(response?.data).toContain("done");
  expect(response?.id).toBeDefined();
  expect(others.filter(({ id }) => id !== undefined)).toEqual([]);
  // The stream opens, ends, and is no longer followed.
  expect(node.engine.operations.filter((operation) => operation.startsWith("append"))).toHaveLength(2);
});
