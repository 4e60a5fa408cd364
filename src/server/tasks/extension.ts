// Tasks for modern clients: a fragment of the tables like any other extension's.
import { invalidParams } from "../../errors.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { Extension } from "../catalogue/extensions.ts";
import type { Call } from "../calls/call.ts";
import type { Context } from "../context/context.ts";
import { detailedTask } from "./forms.ts";
import { hasEnded } from "./store.ts";
import type { Caller, TaskTable } from "./table.ts";

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
          const task = await tasks.find(callOf(ctx), "extension", taskId);
          const responses = readResponses(inputResponses);
          await tasks.runs.get(task.id)?.answer(responses);
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
        /** Only tasks of the caller's own that it may use: any other is as one that never was. */
        async permits(ids, ctx) {
          const found = ids.map((id) =>
            tasks.find(callOf(ctx), "extension", id).then(
              () => id,
              () => undefined,
            ),
          );
          return (await Promise.all(found)).filter((id) => id !== undefined);
        },
      },
    },
  };
}

/** The context of a request is the call itself, which knows more of its caller than handlers are told. */
function callOf(ctx: Context): Caller {
  return ctx as Call;
}

function readResponses(value: unknown): Readonly<Record<string, JsonObject>> {
  if (isObject(value) && Object.values(value).every(isObject)) return value as Record<string, JsonObject>;
  throw invalidParams("inputResponses must be an object of results");
}
