// Which code answers which method. Whether a method exists for a peer is for the tables of its revision to say.
import { cancelTask, getTask, getTaskResult, listTasks } from "../tasks/core-methods.ts";
import { complete } from "./completion.ts";
import { discover, initialize, ping, setLogLevel } from "./handshake.ts";
import { listHandler } from "./lists.ts";
import { listen } from "./listen.ts";
import type { MethodHandler } from "../calls/method.ts";
import { getPrompt } from "./prompts.ts";
import { readResource, subscribeResource, unsubscribeResource } from "./resources.ts";
import { callTool } from "./tools.ts";

export const methods: ReadonlyMap<string, MethodHandler> = new Map([
  ["initialize", initialize],
  ["server/discover", discover],
  ["ping", ping],
  ["logging/setLevel", setLogLevel],
  ["tools/list", listHandler("tools")],
  ["tools/call", callTool],
  ["prompts/list", listHandler("prompts")],
  ["prompts/get", getPrompt],
  ["resources/list", listHandler("resources")],
  ["resources/templates/list", listHandler("resourceTemplates")],
  ["resources/read", readResource],
  ["resources/subscribe", subscribeResource],
  ["resources/unsubscribe", unsubscribeResource],
  ["completion/complete", complete],
  ["subscriptions/listen", listen],
  ["tasks/get", getTask],
  ["tasks/result", getTaskResult],
  ["tasks/list", listTasks],
  ["tasks/cancel", cancelTask],
]);
