// Tasks for modern clients, as an extension like any other.
import { readResponses } from "../asking/question.ts";
import type { Extension } from "../catalogue/extensions.ts";
import type { Call } from "../calls/call.ts";
import { callerOf } from "../context/connection.ts";
import type { Context } from "../context/context.ts";
import { detailedTask } from "./forms.ts";
import { hasEnded } from "./record.ts";
import type { TaskTable } from "./table.ts";

export function tasksExtension(tasks: TaskTable): Extension {
  return {
    requests: {
      "tasks/get": {
        mirrors: "taskId",
        run: async ({ taskId }, ctx) => detailedTask(await tasks.find(callOf(ctx), "extension", taskId)),
      },
      "tasks/update": {
        mirrors: "taskId",
        async run({ taskId, inputResponses }, ctx) {
          const call = callOf(ctx);
          const task = await tasks.find(call, "extension", taskId);
          await tasks.answer(callerOf(call.exchange), task, readResponses(inputResponses));
          return {};
        },
      },
      "tasks/cancel": {
        mirrors: "taskId",
        async run({ taskId }, ctx) {
          const task = await tasks.find(callOf(ctx), "extension", taskId);
          if (!hasEnded(task)) await tasks.cancel(task);
          return {};
        },
      },
    },
    listens: {
      taskIds: {
        kind: "keys",
        requiresDeclaration: true,
        notification: "notifications/tasks",
        /** Keeps only tasks that the caller owns and may use; others look as if they did not exist. */
        async permits(ids, ctx) {
          const found = ids.map((id) =>
            tasks.find(callOf(ctx), "extension", id).then(
              (task) => {
                tasks.listened(task);
                return id;
              },
              () => undefined,
            ),
          );
          return (await Promise.all(found)).filter((id) => id !== undefined);
        },
      },
    },
  };
}

/** The context of a request is its `Call`, which has more about the caller than handlers see. */
function callOf(ctx: Context): Call {
  return ctx as Call;
}
