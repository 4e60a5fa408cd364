// Says what is wrong with something that `connect` cannot connect to, and what was probably meant.
import { isThenable } from "../async/promises.ts";
import { shownUrl } from "./settings/shown.ts";

const wanted = "must be a URL, { command, args }, an McpServer, or an object with openWire()";

export function targetProblem(target: unknown): string {
  if (isThenable(target)) return "is a promise: await it";
  if (typeof target === "function") return "is a function: pass an instance, such as new McpServer(…)";
  const url: unknown = Object(target).url;
  if (typeof url === "string" || url instanceof URL)
    return `is an object with a url: pass the URL itself, such as connect("${shownUrl(String(url))}"), and headers as an option`;
  return wanted;
}
