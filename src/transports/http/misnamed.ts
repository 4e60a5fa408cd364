// Names that people expect among the options of the HTTP transport, because other libraries have them, and the options that
// replace them.
import type { OptionsPlace } from "../../base/options.ts";
import { defaultLimits } from "../../server/settings/limits.ts";
import { knownCoreOptions } from "../../server/settings/options.ts";

const path = "did you mean path?";
const tls =
  "Halyard serves plain HTTP: put a proxy with TLS in front, or pass nodeHandler(server) to createServer({ cert, key }, handler) of node:https";
const listening = "your own server listens, so set it there; only serveHttp has it";
const key =
  "pass auth: a function that returns the principal of a caller, or bearerAuth({ … }) of halyard/auth";

const instead: Readonly<Record<string, string>> = {
  endpoint: path,
  url: path,
  route: path,
  basePath: path,
  prefix: path,
  address: "did you mean host?",
  port: listening,
  host: listening,
  hostname: listening,
  handleSignals: listening,
  server: "nodeHandler(server) is a listener for a server of your own",
  cert: tls,
  key: tls,
  https: tls,
  tls,
  ssl: tls,
  origin: 'pass cors: { origins: ["https://app.example.com"] }',
  token: key,
  authToken: key,
  apiKey: key,
  authenticate: key,
  stateless: 'pass mode: "stateless" to new McpServer()',
  sessionIdGenerator: 'leave it out; for no sessions, pass mode: "stateless" to new McpServer()',
  eventStore: "leave it out; to resume streams in another process, pass backplane to new McpServer()",
  retryInterval: "did you mean retryMs?",
  legacy: "pass supportedRevisions, which names the revisions that you serve, to new McpServer()",
  responseMode: "leave it out; a reply is JSON unless the handler sends something before it",
  enableJsonResponse: "leave it out; a reply is JSON unless the handler sends something before it",
  enableDnsRebindingProtection: "leave it out; every Host is checked against allowedHosts",
};

/** The problem of an unknown option, unless its nearest name is the best advice. */
function misnamedProblem(field: string): string | undefined {
  if (Object.hasOwn(instead, field)) return `is not an option: ${instead[field]}`;
  const isOfServer =
    Object.hasOwn(knownCoreOptions, field) || Object.hasOwn(defaultLimits, field.replace(/^limits\./, ""));
  return isOfServer ? "belongs to the server: pass it to new McpServer(info, options)" : undefined;
}

/** Where the options of handlers are passed. */
export const mountPlace: OptionsPlace = { subject: "HTTP", problem: misnamedProblem };

/** Where the options of `serveHttp` are passed, which listens itself. */
export const servePlace: OptionsPlace = {
  subject: "HTTP",
  such: "{ port: 3000 }",
  problem: (field) =>
    field === "hostname" ? "is not an option: did you mean host?" : misnamedProblem(field),
};
