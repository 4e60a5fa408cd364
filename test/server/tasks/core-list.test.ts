// tasks/list: pages of one's own tasks, oldest first.
import { afterEach, expect, test, vi } from "vitest";
import { open } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";
import { capabilities, coreForm, taskServer, Tasks, type TaskView } from "../../support/tasks.ts";

interface Page {
  readonly tasks: readonly TaskView[];
  readonly nextCursor?: string;
}

describeMatrix("tasks/list", coreForm, (cell) => {
  const list = (tasks: Tasks, cursor?: string): Promise<Page> =>
    tasks.client.request("tasks/list", cursor === undefined ? {} : { cursor }) as unknown as Promise<Page>;

  afterEach(() => void vi.useRealTimers());

  test("pages through every task of the caller as tasks/get shows it, whatever begins or ends meanwhile [TASK25-LIST]", async () => {
    // All of one millisecond, which their times can't put in order.
    vi.useFakeTimers({ toFake: ["Date"] });
    const tasks = new Tasks(await open(cell, taskServer({ pageSize: 2 }).server, { capabilities }));
    const ids: string[] = [];
    for (const name of ["wait", "quick", "wait", "quick", "wait"]) {
      const { taskId } = await tasks.start(name);
      ids.push(taskId);
      // One that ends between the list and the look at it would be shown differently by the two.
      if (name === "quick") await tasks.result(taskId);
    }
    const seen: TaskView[] = [];
    let cursor: string | undefined;
    do {
      const page: Page = await list(tasks, cursor);
      expect(page.tasks.length).toBeLessThanOrEqual(2);
      for (const each of page.tasks) expect(each).toEqual(await tasks.get(each.taskId));
      seen.push(...page.tasks);
      cursor = page.nextCursor;
      if (seen.length === 2) await tasks.cancel(String(ids[4]));
    } while (cursor !== undefined);
    expect(seen.map(({ taskId }) => taskId)).toEqual(ids);
    expect(JSON.stringify(seen)).not.toContain("related-task");
  });

  test("is empty at first, and has no cursor on its last page [TASK25-LIST]", async () => {
    const tasks = new Tasks(await open(cell, taskServer({ pageSize: 2 }).server, { capabilities }));
    expect(await list(tasks)).toEqual({ tasks: [] });
    await tasks.start("quick");
    await tasks.start("quick");
    expect(await list(tasks)).not.toHaveProperty("nextCursor");
  });

  test("shows a session nothing of another's tasks, where callers are not authenticated [TASK25-AUTH-BIND]", async () => {
    const { server } = taskServer();
    const [one, other] = [
      new Tasks(await open(cell, server, { capabilities })),
      new Tasks(await open(cell, server, { capabilities })),
    ];
    await one.start("quick");
    expect((await list(one)).tasks).toHaveLength(1);
    expect(await list(other)).toEqual({ tasks: [] });
  });

  test.each(["", "x", "!!!", "AAAA", btoa("2026-01-01T00:00:00.000Z"), 7, null, {}])(
    "refuses the cursor %j [TASK25-LIST-CURSOR-ERR]",
    async (cursor) => {
      const tasks = new Tasks(await open(cell, taskServer().server, { capabilities }));
      await expect(tasks.client.request("tasks/list", { cursor })).rejects.toMatchObject({ code: -32602 });
    },
  );
});
