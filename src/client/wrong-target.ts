// Explains what is wrong with a target that `connect` cannot connect to, and what was probably meant.
import { mismatch } from "../base/kinds.ts";
import { shownUrl } from "./settings/shown.ts";

export function targetProblem(target: unknown): string {
  const url: unknown = Object(target).url;
  if ("mcpServers" in Object(target))
    return "is the content of a file with mcpServers: pass it to connectAll()";
  return typeof url === "string" || url instanceof URL
    ? `is an object with a url: pass the URL itself, such as connect("${shownUrl(String(url))}"), and headers as an option`
    : mismatch("a URL, { command, args }, an McpServer, or an object with openWire()", target);
}
