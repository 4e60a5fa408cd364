// Tasks that never end, that ask to be polled all the time, or whose ids are no ids.
import { expect } from "vitest";
import { failing, HttpScript, newestLegacy, start } from "../../../support/http-script.ts";
import type { Row } from "../row.ts";
import { attackVictim } from "../victim.ts";
import { expectAlive, wired } from "../wired.ts";

const created = (task: object): object => ({ resultType: "task", taskId: "t1", status: "working", ...task });
const seen = (task: object): object => ({ resultType: "complete", taskId: "t1", status: "working", ...task });
const odd = ["\r\nx-evil: 1", "a\u0000b", "../../x?y#z", "ü\u{1f600}", "__proto__", " "];

export const taskRows: readonly Row[] = [
  {
    name: "a task that never ends is ended by the time of the call, and is polled with pauses whatever the server asks for",
    async attack() {
      for (const pollIntervalMs of [0, -1, 1e-9]) {
        const { server, client } = await wired({});
        server.on("tools/call", () => created({ pollIntervalMs, ttlMs: null }));
        server.on("tasks/get", () => seen({ pollIntervalMs }));
        server.on("tasks/cancel", () => ({ resultType: "complete" }));
        const error = await failing(client.callTool("work", {}, { maxTimeMs: 350 }));
        expect(error).toMatchObject({ code: "TIMEOUT", limit: "maxTimeMs" });
        expect(server.of("tasks/get").length).toBeLessThanOrEqual(4);
        await expectAlive(client);
      }
    },
  },
  {
    name: "a pause of years between two looks does not outlast the call",
    async attack() {
      const { server, client } = await wired({});
      server.on("tools/call", (request, end) =>
        end.send(
          `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":{"resultType":"task","taskId":"t1","status":"working","pollIntervalMs":1e999,"ttlMs":1e999}}`,
        ),
      );
      server.on("tasks/get", () => seen({ pollIntervalMs: 1e15 }));
      server.on("tasks/cancel", () => ({ resultType: "complete" }));
      expect(await failing(client.callTool("work", {}, { maxTimeMs: 200 }))).toMatchObject({
        code: "TIMEOUT",
      });
    },
  },
  {
    name: "a flood of notifications about a task does not become a flood of requests",
    async attack() {
      const { server, client } = await wired({});
      server.on("tools/call", () => created({ pollIntervalMs: 100 }));
      server.on("tasks/get", (_, end) => {
        for (let at = 0; at < 5000; at++)
          end.notify("notifications/tasks/status", {
            taskId: "t1",
            status: at % 2 ? "input_required" : "completed",
          });
        return seen({ pollIntervalMs: 100 });
      });
      server.on("tasks/cancel", () => ({ resultType: "complete" }));
      await failing(client.callTool("work", {}, { maxTimeMs: 350 }));
      expect(server.of("tasks/get").length).toBeLessThanOrEqual(4);
    },
  },
  {
    name: "what a task says after its end counts no more, and another task's state never",
    async attack() {
      const { server, client } = await wired({});
      server.on("tools/call", () => created({}));
      let looks = 0;
      const states = [
        seen({ status: "completed", result: { content: [{ type: "text", text: "first" }] } }),
        seen({ status: "working" }),
      ];
      server.on("tasks/get", () => states[looks++]);
      expect((await client.callTool("work")).content).toEqual([{ type: "text", text: "first" }]);
      expect(looks).toBe(1);
      server.on("tasks/get", () => seen({ taskId: "t2", status: "completed", result: { content: [] } }));
      expect(await failing(client.callTool("work"))).toMatchObject({ code: "INVALID_RESPONSE" });
    },
  },
  {
    name: "keys of questions that a task makes up without end are not remembered whole",
    async attack() {
      const server = await HttpScript.open();
      let looks = 0;
      const question = {
        method: "elicitation/create",
        params: { message: "?", requestedSchema: { type: "object", properties: {} } },
      };
      server.on("tools/call", ({ result }) => result(created({})));
      server.on("tasks/get", ({ result }) => {
        const inputRequests = { [`${looks++} ${"x".repeat(1_000_000)}`]: question };
        const isOver = looks > 90;
        result(
          seen(
            isOver
              ? { status: "completed", result: { content: [] } }
              : { status: "input_required", pollIntervalMs: 0, inputRequests },
          ),
        );
      });
      for (const method of ["tasks/update", "tasks/cancel", "again"])
        server.on(method, ({ result }) => result());
      const report = await attackVictim({
        target: server.url,
        options: { limits: { maxBytes: 2_000_000 } },
        call: ["callTool", "work"],
        flags: { again: true, declines: true },
      });
      expect(report.outcome).toMatchObject({ ok: false, code: "INVALID_RESPONSE" });
      expect(report.outcome.message?.length).toBeLessThan(1000);
      expect(report.again).toEqual({ ok: true });
    },
  },
  {
    name: "ids of tasks that are too long to be repeated in every request are refused",
    async attack() {
      const { server, client } = await start({ tasks: true });
      server.on("tools/call", ({ result }) => result(created({ taskId: "t".repeat(5000) })));
      const error = await failing(client.callTool("work"));
      expect(error).toMatchObject({ code: "INVALID_RESPONSE" });
      expect(error.message.length).toBeLessThan(1000);
      expect(server.of("tasks/get")).toEqual([]);
    },
  },
  {
    name: "ids of tasks with line breaks or other odd characters break no header, and no error",
    async attack() {
      const { server, client } = await start({ tasks: true });
      for (const taskId of odd) {
        server.on("tools/list", ({ result }) => result({ tools: [] }));
        server.on("tools/call", ({ result }) => result(created({ taskId, pollIntervalMs: 0 })));
        server.on("tasks/get", ({ headers, message, result }) => {
          expect(headers["x-evil"]).toBeUndefined();
          expect(message.params?.["taskId"]).toBe(taskId);
          result(seen({ taskId, status: "cancelled" }));
        });
        const error = await failing(client.callTool("work"));
        expect(error).toMatchObject({ code: "TASK_ENDED", taskId });
        expect(error.message).not.toMatch(/[\r\n\0]/);
      }
    },
  },
  {
    name: "results of a task of any shape are refused clearly",
    async attack() {
      const { server, client } = await wired({});
      server.on("tools/call", () => created({}));
      for (const result of [undefined, null, 1, "x", []]) {
        server.on("tasks/get", () => seen({ status: "completed", result }));
        expect(await failing(client.callTool("work"))).toMatchObject({ code: "INVALID_RESPONSE" });
      }
      for (const error of [undefined, null, 1, "x", [], {}, { code: "1", message: {} }]) {
        server.on("tasks/get", () => seen({ status: "failed", error }));
        expect(await failing(client.callTool("work"))).toMatchObject({ name: "RpcRejection", code: -32603 });
      }
      for (const status of ["__proto__", "constructor", "done", null, {}]) {
        server.on("tasks/get", () => seen({ status }));
        expect(await failing(client.callTool("work"))).toMatchObject({ code: "INVALID_RESPONSE" });
      }
      await expectAlive(client);
    },
  },
  {
    name: "questions of a task without end are ended",
    limit: "limits.maxQuestions",
    async attack() {
      let asked = 0;
      const { server, client } = await wired(
        {},
        { limits: { maxQuestions: 2, maxRounds: 2 }, onElicit: () => (asked++, { action: "decline" }) },
      );
      server.on("tools/call", () => created({ pollIntervalMs: 0 }));
      let round = 0;
      server.on("tasks/get", () => {
        const params = { message: "?", requestedSchema: { type: "object", properties: {} } };
        const question = { method: "elicitation/create", params };
        round++;
        return seen({
          status: "input_required",
          pollIntervalMs: 0,
          inputRequests: { [`a${round}`]: question, [`b${round}`]: question },
        });
      });
      server.on("tasks/update", () => ({ resultType: "complete" }));
      server.on("tasks/cancel", () => ({ resultType: "complete" }));
      const error = await failing(client.callTool("work"));
      expect(error).toMatchObject({ code: "INVALID_RESPONSE" });
      expect(error.message).toContain("limits.maxQuestions");
      expect(asked).toBe(4);
    },
  },
  {
    name: "a task of 2025-11-25 whose result never comes is ended by the time of the call",
    async attack() {
      const { server, client } = await wired({
        revision: newestLegacy,
        capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } }, cancel: {} } },
      });
      const task = { taskId: "t1", status: "input_required", pollInterval: 0, ttl: 1e15, createdAt: "never" };
      const tool = { name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } };
      server.on("tools/list", () => ({ tools: [tool] }));
      server.on("tools/call", () => ({ task }));
      server.on("tasks/get", () => task);
      server.on("tasks/result", () => undefined);
      server.on("tasks/cancel", () => task);
      expect(await failing(client.callTool("work", {}, { maxTimeMs: 350 }))).toMatchObject({
        limit: "maxTimeMs",
      });
      expect(server.of("tasks/get").length).toBeLessThanOrEqual(4);
      expect(server.of("tasks/result").length).toBeLessThanOrEqual(1);
    },
  },
];
