// Whatever is done to a task in whatever order: it moves along the allowed transitions, and never from its end.
import fc from "fast-check";
import type { Backplane } from "halyard";
import { connect } from "halyard/testing";
import { expect, test } from "vitest";
import { portOf } from "halyard/transport";
import { type StoredTask, tasksThat } from "../../support/task-backplane.ts";
import { capabilities, taskServer, Tasks } from "../../support/tasks.ts";
import { deferred, until } from "../../support/turns.ts";

const allowed: Readonly<Record<string, readonly string[]>> = {
  working: ["working", "input_required", "completed", "failed", "cancelled"],
  input_required: ["input_required", "working", "completed", "failed", "cancelled"],
  completed: ["completed"],
  failed: ["failed"],
  cancelled: ["cancelled"],
};

/** An engine that takes its time for each change, as long as the property says. */
function slowBackplane(delays: readonly number[], kept: (task: StoredTask) => void): Backplane {
  let next = 0;
  return tasksThat({
    async change(stored, go) {
      const turns = delays[next++ % delays.length] ?? 0;
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      const version = await go();
      if (version !== undefined) kept(stored);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      return version;
    },
  });
}

const steps = fc.array(fc.constantFrom("progress", "ask", "answer", "cancel", "get", "pause"), {
  maxLength: 8,
});
const ends = fc.constantFrom("return", "throw", "reject");
const delays = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 });

test.each(["2025-11-25", "2026-07-28"])(
  "a task of %s moves only along the allowed transitions, in the store and in the notifications of its client [TASK25-TRANSITIONS]",
  async (revision) => {
    await fc.assert(
      fc.asyncProperty(steps, ends, delays, async (plan, end, slowness) => {
        const history: string[] = ["working"];
        const gate = deferred();
        const does: { progress: () => void; ask: () => void } = { progress: () => {}, ask: () => {} };
        const { server } = taskServer({
          backplane: slowBackplane(slowness, ({ status }) => history.push(status)),
        });
        const { cluster } = portOf(server);
        await cluster?.join();
        server.tool("any", { task: { pollIntervalMs: 1 } }, async (_, ctx) => {
          let count = 0;
          does.progress = () => ctx.progress(++count);
          does.ask = () => void ctx.roots().catch(() => {});
          await gate.promise;
          if (end === "return") return "done";
          throw end === "throw" ? new Error("thrown") : new TypeError("rejected");
        });
        const client = await connect(server, { revision, capabilities });
        const tasks = new Tasks(client);
        const { taskId } = await tasks.start("any");
        const seen: string[] = [];
        const look = async (): Promise<void> => void seen.push((await tasks.get(taskId)).status);
        if (!tasks.isCore) {
          const listening = client.withMeta({ notifications: { taskIds: [taskId] } });
          client.send({ jsonrpc: "2.0", id: "l", method: "subscriptions/listen", ...listening });
        }
        const acts: Record<string, () => Promise<unknown>> = {
          progress: async () => does.progress(),
          ask: async () => does.ask(),
          answer: () => answerAny(tasks, taskId),
          cancel: () => tasks.cancel(taskId).catch(() => {}),
          get: look,
          pause: () => new Promise((resolve) => setTimeout(resolve, 1)),
        };
        const doing = plan.map((step, index) => {
          const act = acts[step] as () => Promise<unknown>;
          return index % 2 ? act() : new Promise((resolve) => setImmediate(resolve)).then(act);
        });
        gate.resolve();
        await Promise.all(doing);
        await until(async () =>
          ["completed", "failed", "cancelled"].includes((await tasks.get(taskId)).status),
        );
        does.progress();
        await new Promise((resolve) => setImmediate(resolve));
        await look();
        const method = tasks.isCore ? "notifications/tasks/status" : "notifications/tasks";
        const told = client.notifications(method).map(({ params }) => String(params?.["status"]));
        await client.close();
        await cluster?.leave();
        for (const statuses of [history, seen, told]) {
          for (const [at, status] of statuses.slice(1).entries()) {
            expect(allowed[String(statuses[at])], statuses.join(" ")).toContain(status);
          }
        }
        expect(history.filter((status) => allowed[status]?.length === 1)).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  },
);

async function answerAny(tasks: Tasks, taskId: string): Promise<void> {
  if (tasks.isCore) return;
  const { inputRequests = {} } = await tasks.get(taskId);
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { roots: [] }]));
  await tasks.client.request("tasks/update", { taskId, inputResponses });
}
