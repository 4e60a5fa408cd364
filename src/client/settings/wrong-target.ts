// Explains what is wrong with a target that `connect` cannot connect to, and what was probably meant.
import { mismatch } from "../../base/kinds.ts";
import { shownUrl } from "./shown.ts";

export function targetProblem(target: unknown): string {
  const url: unknown = Object(target).url;
  if ("mcpServers" in Object(target))
    return "is the content of a file with mcpServers: pass it to connectAll()";
  return typeof url === "string" || url instanceof URL
    ? `is an object with a url: pass the URL itself, such as connect("${shownUrl(String(url))}"), and headers as an option`
    : mismatch("a URL, { command, args }, an McpServer, or an object with openWire()", target);
}

/** A host, with a port or a dot in it, and perhaps a path. */
const hostAndPath = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/|$)|^[\w-]+:\d+/;

export function notHttp(target: string): string {
  if (/^\s*\{/.test(target)) return "is the text of JSON: pass connectAll(JSON.parse(text))";
  const lacksScheme = hostAndPath.test(target) && !/\.[cm]?[jt]s$/.test(target);
  if (lacksScheme) {
    const isLocal = /^(?:localhost|127\.)/.test(target);
    const meant = shownUrl(`${isLocal ? "http" : "https"}://${target}`);
    return `has no scheme: write ${JSON.stringify(meant)}`;
  }
  if (target === "") return "is empty: pass the URL of the server";
  const shown = JSON.stringify(shownUrl(target));
  if (/^["']/.test(target)) return `is ${shown}: remove the quotes`;
  const [, variable] = /\$\{?(\w+)/.exec(target) ?? [];
  if (variable)
    return `is ${shown}, a variable that nothing has replaced: pass its value, such as process.env.${variable}`;
  if (/^https?:/i.test(target))
    return `is ${shown}, which is not a URL: check the host, and the port, which is 65535 at most`;
  const [, scheme = "file"] = /^(\w+):\/\//.exec(target) ?? [];
  if (scheme !== "file") {
    const name = /^wss?$/i.test(scheme) ? "WebSocket" : scheme;
    return `is ${shown}, and ${name} is not a transport of MCP: use http(s)`;
  }
  const command = ': to start a command, pass { command: "node", args: ["server.js"] }';
  return `is ${shown}, which is not an http(s) URL${/[\s/\\]|\.\w+$/.test(target) ? command : ""}`;
}
