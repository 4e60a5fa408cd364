// What each message of a server has to fit, by its kind: taken from the official schema of its revision.
import { closeAll, type Definitions, readDefinitions, type Schema } from "./closed.ts";

/** A schema for each kind of message: `params ping`, `result tools/call`, `result of a task`, `error`, `error -32020`. */
export type MessageSchemas = Readonly<Record<string, Schema>>;

const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });

/** Results whose definition is not named after their request, by the revision from which on they hold. */
const otherResults: Readonly<Record<string, MessageSchemas>> = {
  "2025-11-25": {
    // It is what the request would have returned, which can only be a call of a tool.
    "result tasks/result": ref("CallToolResult"),
    "result of a task": ref("CreateTaskResult"),
  },
  "2026-07-28": {
    "result of a task": ref("TasksCreateTaskResult"),
    "result of a question": ref("InputRequiredResult"),
    "result tasks/get": ref("TasksGetTaskResult"),
    "result tasks/update": ref("TasksUpdateTaskResult"),
    "result tasks/cancel": ref("TasksCancelTaskResult"),
  },
};

export interface RevisionSchemas {
  readonly definitions: Definitions;
  readonly messages: MessageSchemas;
}

export function readRevisionSchemas(revision: string): RevisionSchemas {
  const own = readDefinitions(revision);
  const definitions = closeAll(revision < "2026-07-28" ? own : { ...own, ...tasksExtension(own) });
  const messages = { ...paramsIn(definitions), ...resultsIn(definitions), ...errorsIn(definitions) };
  const others = Object.entries(otherResults).findLast(([since]) => since <= revision)?.[1];
  return { definitions, messages: { ...messages, ...others } };
}

/** The definitions of the tasks extension, under names of their own, and what it adds to those of the revision. */
function tasksExtension(own: Definitions): Definitions {
  const prefixed = JSON.stringify(readDefinitions("ext-tasks")).replaceAll("#/$defs/", "#/$defs/Tasks");
  const tasks = Object.entries(JSON.parse(prefixed) as Record<string, Schema>);
  const filter = own["SubscriptionFilter"];
  const acknowledged = tasks.find(([name]) => name === "TaskSubscriptionAcknowledgedNotifications")?.[1];
  return {
    ...Object.fromEntries(tasks.map(([name, schema]) => [`Tasks${name}`, schema])),
    SubscriptionFilter: { ...filter, properties: { ...filter?.properties, ...acknowledged?.properties } },
  };
}

/** What a server may send by itself. */
function paramsIn(definitions: Definitions): MessageSchemas {
  const sent = ["ServerNotification", "ServerRequest"].flatMap((name) => definitions[name]?.anyOf ?? []);
  const names = [...sent.map(({ $ref }) => $ref?.replace("#/$defs/", "")), "TasksTaskStatusNotification"];
  const entries = names.flatMap((name) => {
    const schema = definitions[name ?? ""];
    return schema === undefined ? [] : [[`params ${String(constOf(schema, "method"))}`, paramsOf(schema)]];
  });
  return Object.fromEntries(entries) as MessageSchemas;
}

/**
 * What `{ params }` of a message has to fit. Every request and notification may have `_meta`; before 2025-11-25 only their
 * common base says so.
 */
function paramsOf(schema: Schema): Schema {
  const isRequired = partsOf(schema).some((part) => part.required?.includes("params"));
  const params = partOf(schema, "params");
  const properties = params?.properties && { _meta: {}, ...params.properties };
  return {
    ...(params && { properties: { params: { ...params, ...(properties && { properties }) } } }),
    required: isRequired ? ["params"] : [],
    additionalProperties: false,
  };
}

/** What a client may ask for, each with the result that is named after it. */
function resultsIn(definitions: Definitions): MessageSchemas {
  const requests = Object.entries(definitions).filter(([name]) => name.endsWith("Request"));
  const entries = requests.map(([name, schema]) => {
    const result = name.replace(/Request$/, "Result");
    return [`result ${String(constOf(schema, "method"))}`, ref(definitions[result] ? result : "EmptyResult")];
  });
  return Object.fromEntries(entries) as MessageSchemas;
}

/** The definition of all errors, and of those that have one of their own, by their code. */
function errorsIn(definitions: Definitions): MessageSchemas {
  const error = definitions["JSONRPCError"]?.properties?.["error"] ?? ref("Error");
  const entries = Object.values(definitions).flatMap((schema) => {
    const own = schema.properties?.["error"];
    const code = own && constOf(own, "code");
    return typeof code === "number" ? [[`error ${code}`, own]] : [];
  });
  return { error, ...(Object.fromEntries(entries) as MessageSchemas) };
}

function constOf(schema: Schema, property: string): unknown {
  return partOf(schema, property)?.const;
}

/** The schema of a property, wherever an `allOf` has it. */
function partOf(schema: Schema, property: string): Schema | undefined {
  return partsOf(schema).findLast((part) => part.properties?.[property])?.properties?.[property];
}

function partsOf(schema: Schema): readonly Schema[] {
  return [schema, ...(schema.allOf ?? [])];
}
