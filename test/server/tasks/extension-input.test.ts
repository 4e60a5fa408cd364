// Questions of a task whose client knows the extension: they stand in the task, and tasks/update answers them.
import { inputRequired, type JsonObject, type ServerOptions, UrlElicitationRequired } from "halyard";
import { expect, test } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { join } from "../../support/backplane.ts";
import { accepted, capabilities, extensionForm, taskServer, Tasks, textOf } from "../../support/tasks.ts";
import { type StoredTask, tasksThat } from "../../support/task-backplane.ts";
import { nextTurn, until } from "../../support/turns.ts";

const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const task = { pollIntervalMs: 10 } as const;

describeMatrix("tasks/update", extensionForm, (cell) => {
  async function begin(options: ServerOptions = {}): Promise<Tasks> {
    const { server } = taskServer(options);
    if (options.backplane) await join(server);
    server.tool("two", { task }, async (_, ctx) => {
      const [one, other] = await Promise.all([
        ctx.elicit("One?", named, { key: "one" }),
        ctx.elicit("Other?", named, { key: "other" }),
      ]);
      return `${String(one.name)} and ${String(other.name)}`;
    });
    server.tool("thrice", { task }, async (_, ctx) => {
      const names: unknown[] = [];
      for (let time = 0; time < 3; time++) {
        names.push(
          (await ctx.elicit("Again?", named, time === 2 ? { key: "elicitation/create-2" } : {})).name,
        );
      }
      return names.join(" ");
    });
    server.tool("explicit", { task }, (_, ctx) => {
      const { round } = ctx.requestState<{ round: number }>() ?? { round: 0 };
      const { where } = ctx.inputResponses ?? {};
      if (round === 2) return `${round} rounds, then ${JSON.stringify(where)}`;
      return inputRequired({
        inputRequests: { where: { method: "roots/list" } },
        requestState: { round: round + 1 },
      });
    });
    let visits = 0;
    server.tool("visit", { task }, () => {
      if (visits++ > 0) return "visited";
      throw new UrlElicitationRequired([{ message: "Sign in", url: new URL("https://example.com/sign-in") }]);
    });
    return new Tasks(await open(cell, server, { capabilities }));
  }

  const update = (tasks: Tasks, taskId: string, inputResponses: unknown): Promise<JsonObject> =>
    tasks.client.request("tasks/update", { taskId, inputResponses });

  test("is acknowledged with nothing, and what is answered no longer stands in the task [TASKX-UPDATE-ACK, TASKX-RESULTTYPE-COMPLETE, TASKX-GET-STATUS]", async () => {
    const tasks = await begin();
    const { taskId } = await tasks.start("two");
    const { inputRequests } = await tasks.until(taskId, "input_required");
    expect(Object.keys(inputRequests ?? {})).toEqual(["one", "other"]);
    const { _meta, ...ack } = await update(tasks, taskId, { other: accepted({ name: "B" }) });
    expect(ack).toEqual({ resultType: "complete" });
    const partly = await tasks.get(taskId);
    expect(partly.status).toBe("input_required");
    expect(Object.keys(partly.inputRequests ?? {})).toEqual(["one"]);
    await update(tasks, taskId, { one: accepted({ name: "A" }) });
    expect(await tasks.result(taskId)).toMatchObject(textOf("A and B"));
  });

  test("is acknowledged when the engine has it, since the client may ask another node next [TASKX-GET-STATUS]", async () => {
    const stored: StoredTask[] = [];
    const backplane = tasksThat({
      change: async (changed, go) => {
        for (let turn = 0; turn < 20; turn++) await nextTurn();
        const version = await go();
        stored.push(changed);
        return version;
      },
    });
    const tasks = await begin({ backplane });
    const { taskId } = await tasks.start("two");
    await tasks.until(taskId, "input_required");
    await update(tasks, taskId, { other: accepted({ name: "B" }) });
    expect(Object.keys(stored.at(-1)?.["inputRequests"] as JsonObject)).toEqual(["one"]);
    await tasks.cancel(taskId);
  });

  test("leaves answers to questions that are not open aside, before and after the end [TASKX-UPDATE-UNKNOWN-KEYS]", async () => {
    const tasks = await begin();
    const { taskId } = await tasks.start("two");
    await tasks.until(taskId, "input_required");
    await update(tasks, taskId, { nobody: accepted({}), one: accepted({ name: "A" }), __proto__: {} });
    await update(tasks, taskId, { one: accepted({ name: "too late" }), other: accepted({ name: "B" }) });
    expect(await tasks.result(taskId)).toMatchObject(textOf("A and B"));
    const { _meta, ...ack } = await update(tasks, taskId, { one: accepted({ name: "A" }) });
    expect(ack).toEqual({ resultType: "complete" });
    expect(await tasks.result(taskId)).toMatchObject(textOf("A and B"));
  });

  const malformed: Record<string, unknown> = {
    "no answers": undefined,
    "a list": [],
    "an answer that is no object": { one: "yes" },
    "an answer without an action": { one: { content: { name: "A" } } },
    "content that does not fit the question": { one: accepted({ name: 7 }) },
  };
  test.each(Object.entries(malformed))("refuses %s, and the question stays open", async (_, responses) => {
    const tasks = await begin();
    const { taskId } = await tasks.start("two");
    const before = await tasks.until(taskId, "input_required");
    await expect(update(tasks, taskId, responses)).rejects.toMatchObject({ code: -32602 });
    expect((await tasks.get(taskId)).inputRequests).toEqual(before.inputRequests);
    await tasks.cancel(taskId);
  });

  test("refuses answers that are none after the end of the task too", async () => {
    const tasks = await begin();
    const { taskId } = await tasks.start("two");
    await tasks.cancel(taskId);
    await expect(update(tasks, taskId, [])).rejects.toMatchObject({ code: -32602 });
  });

  test("never meets a key that was used for another question [TASKX-KEYS-UNIQUE]", async () => {
    const tasks = await begin();
    const { taskId } = await tasks.start("thrice");
    const keys: string[] = [];
    for (const name of ["A", "B", "C"]) {
      let keysNow: string[] = [];
      await until(async () => {
        keysNow = Object.keys((await tasks.get(taskId)).inputRequests ?? {});
        return keysNow.length === 1 && !keys.includes(keysNow[0] ?? "");
      });
      keys.push(...keysNow);
      await update(tasks, taskId, { [String(keysNow[0])]: accepted({ name }) });
    }
    expect(new Set(keys).size).toBe(3);
    expect(await tasks.result(taskId)).toMatchObject(textOf("A B C"));
  });

  test("answers questions that the handler returned, each round under a key of its own, in one and the same task [TASKX-KEYS-UNIQUE]", async () => {
    const tasks = await begin();
    const { taskId } = await tasks.start("explicit");
    const keys: string[] = [];
    for (let round = 1; round <= 2; round++) {
      await until(async () => {
        const keysNow = Object.keys((await tasks.get(taskId)).inputRequests ?? {});
        return keysNow.length === 1 && !keys.includes(keysNow[0] ?? "");
      });
      keys.push(...Object.keys((await tasks.get(taskId)).inputRequests ?? {}));
      await update(tasks, taskId, { [String(keys.at(-1))]: { roots: [{ uri: `file:///${round}` }] } });
    }
    expect(new Set(keys).size).toBe(2);
    expect(await tasks.result(taskId)).toMatchObject(
      textOf('2 rounds, then {"roots":[{"uri":"file:///2"}]}'),
    );
  });

  test("answers a page that the user has to visit first", async () => {
    const tasks = await begin();
    const { taskId } = await tasks.start("visit");
    const question = await tasks.answer(taskId, { action: "accept" });
    expect(question).toMatchObject({ params: { mode: "url", url: "https://example.com/sign-in" } });
    expect(await tasks.result(taskId)).toMatchObject(textOf("visited"));
  });

  test("a question of a task that is cancelled fails, and one that is asked after that too", async () => {
    const { server } = taskServer();
    const failures: string[] = [];
    server.tool("stubborn", { task }, async (_, ctx) => {
      for (let time = 0; time < 2; time++) {
        await ctx.elicit("Really?", named).catch((error: Error) => failures.push(error.message));
      }
      return "gave up";
    });
    const tasks = new Tasks(await open(cell, server, { capabilities }));
    const { taskId } = await tasks.start("stubborn");
    await tasks.until(taskId, "input_required");
    await tasks.cancel(taskId);
    await until(() => failures.length === 2);
    expect(new Set(failures)).toEqual(new Set(["elicitation/create: The task was cancelled"]));
    const { inputRequests } = await tasks.get(taskId);
    expect(inputRequests).toBeUndefined();
  });
});
