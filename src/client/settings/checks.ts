// Checks the options of `connect` and of calls against each other, and fills in the defaults. An invalid option throws an error that names it.
import { ConfigurationError } from "../../base/errors.ts";
import type { Table } from "../../base/kinds.ts";
import { checkOptions, withDefaults } from "../../base/options.ts";
import { extensionIdProblem } from "../../protocol/meta.ts";
import { listChanged, logMessage, resourceUpdated } from "../../protocol/notifications.ts";
import { isAuthorization } from "./auth.ts";
import { guarded } from "./events.ts";
import { type ClientSettings, type ConnectOptions, knownConnectOptions } from "./options.ts";
import { knownCallOptions } from "./call-options.ts";

/** The requests that have an option of their own to answer them. */
const answeredBy: Readonly<Record<string, string>> = {
  "elicitation/create": "pass onElicit",
  "sampling/createMessage": "pass onSample",
  "roots/list": "pass roots",
  ping: "the client answers it",
};

/** The notifications that have their own way to be received, the same on every revision. */
const heardBy: Readonly<Record<string, string>> = {
  [listChanged.tools]: "use client.listen({ tools: true })",
  [listChanged.prompts]: "use client.listen({ prompts: true })",
  [listChanged.resources]: "use client.listen({ resourceList: true })",
  [resourceUpdated]: "use client.listen({ resources: [uri] })",
  [logMessage]: "pass onLog",
  "notifications/progress": "pass onProgress to the call",
};

/** Throws for the first unknown or invalid option of a call. `known`: the options of the method. */
export function checkCallOptions(
  subject: string,
  options: object | undefined,
  known: Table = knownCallOptions,
): void {
  if (options !== undefined) checkOptions({ subject, problem: ofConnect }, options, known);
}

function named(names: string, remedy: string): Record<string, string> {
  return Object.fromEntries(names.split(" ").map((name) => [name, remedy]));
}

/** Option names of other packages, and the options of `connect` that replace them. */
const otherOptions: Readonly<Record<string, string>> = {
  versionNegotiation: 'pass revision: "auto", "modern", "legacy" or a date',
  protocolVersion: "did you mean revision?",
  supportedProtocolVersions: 'pass revision: "auto", "modern", "legacy" or a date',
  prior: "pass remembered: what client.remember() of an earlier client returned",
  listChanged: "call client.listen({ tools: true }, onChange)",
  ...named("token apiKey bearerToken accessToken", "pass auth: the token, or headers"),
  ...named("name version", "pass info: { name, version }"),
  authProvider: "pass auth: a token, or oauth() of halyard/client/oauth",
  requestInit: "pass headers",
  ...named("proxy agent dispatcher", "pass fetch: a function that goes that way"),
  transport: "leave it out; the target decides it",
  autoFulfill: 'pass inputRequired: "return" to the call',
};

export function otherOption(name: string): string | undefined {
  if (Object.hasOwn(knownCallOptions, name)) return "is not an option: pass it to the call";
  return Object.hasOwn(otherOptions, name) ? `is not an option: ${otherOptions[name]}` : undefined;
}

function ofConnect(name: string): string | undefined {
  return Object.hasOwn(knownConnectOptions, name) ? "is not an option: pass it to connect" : undefined;
}

/** Names the option or method to use for a method of the protocol. */
function ownMethod(
  kind: string,
  instead: Readonly<Record<string, string>>,
): (method: string) => string | undefined {
  return (method) =>
    Object.hasOwn(instead, method) ? `is a ${kind} of the protocol: ${instead[method]}` : undefined;
}

/** Throws for the first name in the option `field` that has a problem. */
function refuseNames(
  field: string,
  given: object | undefined,
  problemOfName: (name: string) => string | undefined,
): void {
  for (const name of Object.keys(given ?? {})) {
    const problem = problemOfName(name);
    if (problem === undefined) continue;
    const where = { subject: "connect", field: `${field}["${name}"]` };
    throw new ConfigurationError("INVALID_OPTION", where, problem);
  }
}

/** Throws for the first unknown or invalid option of `connect`, and fills in the defaults. */
export function resolveOptions(options: ConnectOptions): ClientSettings {
  checkOptions({ subject: "connect", problem: otherOption }, options, knownConnectOptions);
  const { onRequest, onNotification, capabilities, headers, auth } = options;
  refuseNames("onRequest", onRequest, ownMethod("request", answeredBy));
  refuseNames("onNotification", onNotification, ownMethod("notification", heardBy));
  refuseNames("capabilities.extensions", capabilities?.extensions, extensionIdProblem);
  if (auth !== undefined)
    refuseNames("headers", headers, (name) =>
      isAuthorization(name) ? "is given, and so is auth: remove one" : undefined,
    );
  const settings = withDefaults(options, knownConnectOptions);
  return {
    ...settings,
    logLevel: settings.logLevel ?? (options.onLog && "info"),
    observe: options.observe && guarded(options.observe),
  };
}
