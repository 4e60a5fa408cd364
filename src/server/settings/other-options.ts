// Options of other packages and of transports that people pass to a server, and what to do instead.
import { mismatch, isPlain } from "../../base/kinds.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { checkOptions } from "../../base/options.ts";
import { type Implementation, knownImplementation } from "../../protocol/model.ts";
import { knownCoreOptions } from "./options.ts";

const httpLimits: ReadonlySet<string> = new Set(
  "maxSessions maxSessionsPerPrincipal maxSharedSessions idleMs maxStreams maxStreamBytes maxListens maxCallers".split(
    " ",
  ),
);
const httpOptions: ReadonlySet<string> = new Set(
  "port host path auth authenticate oauth allowedHosts allowedOrigins cors dashboard health".split(" "),
);

/** Option names of other packages, and the options that replace them. */
const otherOptions: Readonly<Record<string, string>> = {
  cacheHints: 'pass cache: { "tools/list": { ttlMs, scope } }',
  cacheHint: 'pass cache: { "tools/list": { ttlMs, scope } }',
  supportedProtocolVersions: "pass supportedRevisions",
  requestState: "call server.secureRequestState({ keys, ttlMs }); the state is protected without it, too",
  jsonSchemaValidator: "leave it out; Halyard has a validator",
  debouncedNotificationMethods: "leave it out; changes that follow at once are announced together",
  enforceStrictCapabilities: "leave it out; the server refuses what a client has not declared",
};

/** The fix for an option of another package, or of a transport. */
export function optionElsewhere(name: string): string | undefined {
  if (Object.hasOwn(otherOptions, name)) return `is not an option: ${otherOptions[name]}`;
  const limit = name.replace(/^limits\./, "");
  if (httpLimits.has(limit)) return `belongs to the transport: serveHttp(server, { limits: { ${limit} } })`;
  if (!httpOptions.has(name)) return undefined;
  const here = /^(?:authenticate|oauth)$/.test(name) ? "auth" : name;
  return `belongs to the transport: serveHttp(server, { ${here} })`;
}

export function checkImplementation(info: Implementation): void {
  if (!isPlain(info)) {
    const problem = mismatch("an object with a name and a version", info);
    throw new ConfigurationError("INVALID_OPTION", { subject: "server", field: "info" }, problem);
  }
  const problem = (name: string): string | undefined =>
    Object.hasOwn(knownCoreOptions, name)
      ? `belongs in the second argument: new McpServer(info, { ${name} })`
      : optionElsewhere(name);
  checkOptions({ subject: "server", problem }, info, knownImplementation);
}
