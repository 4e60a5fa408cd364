// Nodes whose wall clocks are two hours apart: no promise depends on them.
import type { JsonObject } from "halyard";
import { describe, expect, onTestFinished, test } from "vitest";
import { clientAt } from "../support/cluster.ts";
import { type Everything, startReady } from "../support/everything.ts";
import { metaKeys } from "../support/raw.ts";
import { sendModern, SessionClient } from "../support/sessions.ts";
import { isEverything } from "../support/tier.ts";
import { engineNames, startEngine } from "./engine-cluster.ts";

const hourMs = 3_600_000;

/** A module that moves the wall clock of its process. */
function clockAhead(ms: number): string {
  const source = `
    const Wall = Date;
    globalThis.Date = class extends Wall {
      constructor(...given) { super(...(given.length > 0 ? given : [Wall.now() + ${ms}])); }
      static now() { return Wall.now() + ${ms}; }
    };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

async function startNode(backplane: string, aheadMs: number): Promise<Everything> {
  const imports = ["--import", clockAhead(aheadMs), "--import", "tsx"];
  const args = ["examples/everything/main.ts", "--port", "0", "--backplane", backplane];
  const node = await startReady([process.execPath, ...imports, ...args]);
  onTestFinished(() => node.kill());
  return node;
}

const tool = "test_input_required_result_elicitation";
const inputResponses = { user_name: { action: "accept", content: { name: "Ada" } } };

async function callModern({ url }: Everything, more: JsonObject = {}): Promise<JsonObject> {
  const params = { name: tool, arguments: {}, ...more };
  const reply = await sendModern(url, "tools/call", params, {
    meta: { [metaKeys.clientCapabilities]: { elicitation: { form: {} } } },
  });
  return ((await reply.json())["result"] ?? {}) as JsonObject;
}

describe.each(engineNames.slice(0, isEverything ? 2 : 1))("%s", (name) => {
  test("sessions, states and tasks of a node hold on another whose clock is two hours away", async () => {
    const engine = await startEngine(name);
    const nodes = await Promise.all([startNode(engine.url, hourMs), startNode(engine.url, -hourMs)]);
    const [ahead, behind] = nodes;
    // Each changes another list: the same change of both would be announced once.
    for (const [one, other, list] of [
      [ahead, behind, "tool"],
      [behind, ahead, "prompt"],
    ] as const) {
      const client = await SessionClient.open(one);
      const elsewhere = clientAt(other, client);
      expect(await elsewhere.request("ping")).toMatchObject({ result: {} });
      const stream = await elsewhere.get();
      await client.request("tools/call", { name: `test_trigger_${list}_change`, arguments: {} });
      await stream.message(({ method }) => method === `notifications/${list}s/list_changed`);

      const { requestState } = await callModern(one);
      expect(requestState).toBeTypeOf("string");
      expect(await callModern(other, { requestState, inputResponses })).toMatchObject({ content: [{}] });

      const started = await client.request("tools/call", {
        name: "slow_compute",
        arguments: { seconds: 0.5 },
        task: { ttl: 600_000 },
      });
      const { taskId } = (started["result"] as { task: { taskId: string } }).task;
      expect(await elsewhere.request("tasks/get", { taskId })).toHaveProperty("result.taskId", taskId);
      expect(await elsewhere.request("tasks/result", { taskId })).toHaveProperty("result.content");
      expect(await client.request("tasks/get", { taskId })).toHaveProperty("result.status", "completed");

      expect(await elsewhere.delete()).toBe(204);
      expect((await client.start("ping")).status).toBe(404);
      await stream.closed;
    }
  }, 60_000);
});
