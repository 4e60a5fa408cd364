// Checks the options of `connect` and of calls, and fills in the defaults. An invalid option throws an error that names it.
import { ConfigurationError } from "../../base/errors.ts";
import {
  either,
  flag,
  func,
  hasMethods,
  isFilled,
  isFunction,
  isPlain,
  type Known,
  limitsOf,
  listOf,
  milliseconds,
  needed,
  oneOf,
  options as optionsOf,
  plainObject,
  signal,
  type Table,
  text,
  textRecord,
  texts,
} from "../../base/kinds.ts";
import { type Filled, checkOptions, givenOf } from "../../base/options.ts";
import type { Root } from "../../protocol/asking.ts";
import { extensionIdProblem } from "../../protocol/meta.ts";
import { type Implementation, knownImplementation, type LogLevel, logLevels } from "../../protocol/model.ts";
import { listChanged, logMessage, resourceUpdated } from "../../protocol/notifications.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import type { ClientEvent, IgnoredEvent } from "./events.ts";
import { type Backoff, type ClientLimits, defaultBackoff, defaultClientLimits } from "./limits.ts";
import type { CallOptions, CallSettings, ConnectOptions } from "./options.ts";

/** The options of `connect`, with defaults where there are some. */
export interface ClientSettings extends Filled<CallSettings> {
  readonly info: Implementation;
  readonly revision: string;
  readonly connectTimeoutMs: number;
  readonly cache: boolean;
  readonly backoff: Backoff;
  readonly limits: ClientLimits;
  readonly logLevel: LogLevel | undefined;
  readonly observe: ((event: ClientEvent) => void) | undefined;
}

/** The default version of a client: the one of package.json. */
const version = "0.1.0";

const callDefaults: Filled<CallSettings> = {
  timeoutMs: 60_000,
  maxTimeMs: 3_600_000,
  reissue: "safe",
  strict: false,
  throwOnError: false,
};

const defaults = {
  ...callDefaults,
  info: { name: "halyard-client", version },
  revision: "auto",
  connectTimeoutMs: 30_000,
  cache: true,
};

const level = oneOf(...logLevels);

const knownSettings: Known<CallSettings> = {
  timeoutMs: milliseconds,
  maxTimeMs: milliseconds,
  reissue: oneOf("safe", "always", "never"),
  strict: flag,
  throwOnError: flag,
};

export const knownCallOptions: Known<CallOptions> = {
  ...knownSettings,
  signal,
  onProgress: func,
  headers: textRecord,
  fresh: flag,
  logLevel: level,
  meta: plainObject,
  inputRequired: oneOf("answer", "return"),
};

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

const handlers = {
  is: (value: unknown) => isPlain(value) && Object.values(value as object).every(isFunction),
  mustBe: 'an object of methods and functions, such as { "acme/news": (params) => console.log(params) }',
};

const knownRoot: Known<Root> = { uri: needed(text), name: text, _meta: plainObject };

export const knownConnectOptions: Known<ConnectOptions> = {
  ...knownSettings,
  info: optionsOf(knownImplementation),
  revision: oneOf("auto", "modern", "legacy", ...revisions.map(({ date }) => date)),
  remembered: {
    is: isRemembered,
    mustBe: "what client.remember() returned",
    remedy: parsedFirst,
    isSecret: true,
  },
  auth: {
    is: (value) => isToken(value) || isFunction(value) || hasMethods(value, "headers"),
    mustBe: 'a token without "Bearer", a function that returns one, or an object with headers()',
    isSecret: true,
  },
  headers: textRecord,
  fetch: func,
  onElicit: {
    is: (value) => isFunction(value) || (isPlain(value) && Object.keys(givenOf(value)).length > 0),
    mustBe: "a function, or an object with a function form, url or both",
    inside: { form: func, url: func },
  },
  onSample: either(func, {
    ...optionsOf({ answer: needed(func), tools: flag, context: flag }),
    mustBe: "an object with a function answer",
  }),
  roots: either(listOf(optionsOf(knownRoot), 'a list such as [{ uri: "file:///home/ada" }]'), {
    ...func,
    mustBe: "a function that returns one",
  }),
  onNotification: handlers,
  onRequest: handlers,
  onLog: func,
  logLevel: level,
  tasks: flag,
  capabilities: optionsOf({
    elicitation: plainObject,
    sampling: plainObject,
    roots: plainObject,
    experimental: plainObject,
    extensions: plainObject,
  }),
  connectTimeoutMs: milliseconds,
  backoff: limitsOf(defaultBackoff),
  cache: flag,
  limits: limitsOf(defaultClientLimits),
  observe: func,
  record: func,
  signal,
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
  const { limits, backoff, observe, logLevel, onLog, ...given } = givenOf(options);
  const { onRequest, onNotification, capabilities, headers, auth } = options;
  refuseNames("onRequest", onRequest, ownMethod("request", answeredBy));
  refuseNames("onNotification", onNotification, ownMethod("notification", heardBy));
  refuseNames("capabilities.extensions", capabilities?.extensions, extensionIdProblem);
  if (auth !== undefined)
    refuseNames("headers", headers, (name) =>
      isAuthorization(name) ? "is given, and so is auth: remove one" : undefined,
    );
  return {
    ...defaults,
    ...given,
    limits: { ...defaultClientLimits, ...givenOf(limits) },
    backoff: { ...defaultBackoff, ...givenOf(backoff) },
    logLevel: logLevel ?? (onLog && "info"),
    observe: observe && guarded(observe),
  };
}

/**
 * Wraps an observer of events or messages, so that its exceptions do not end calls. They are not reported, because the observer
 * itself would receive the report.
 */
export function guarded<Seen>(
  observe: (seen: Seen) => void,
  thrown: (error: unknown) => void = () => {},
): (seen: Seen) => void {
  return (seen) => {
    try {
      observe(seen);
    } catch (error) {
      thrown(error);
    }
  };
}

export function isAuthorization(header: string): boolean {
  return header.toLowerCase() === "authorization";
}

/** Whether a value can be a token. A token does not include the name of its scheme. */
export function isToken(value: unknown): value is string {
  return isFilled(value) && !/^bearer\s/i.test(value);
}

/** Advice for passing the text of an object, or the path of its file, instead of the object. */
export function parsedFirst(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return `it is a text: ${/^\s*\{/.test(value) ? "pass JSON.parse(text)" : "read and parse the file first"}`;
}

type Observe = ((event: IgnoredEvent) => void) | undefined;

/** Reports that something is ignored: to the observer, or on the console if there is none. */
export function tellIgnored(observe: Observe, reason: string): void {
  if (observe) observe({ type: "ignored", reason });
  else console.warn(reason);
}

const told = new WeakSet();

/** Reports an exception of the user's function `own`: to the observer, or on the console, there only once for each function. */
export function tellThrown(observe: Observe, own: object, reason: string): void {
  if (!observe && told.has(own)) return;
  told.add(own);
  tellIgnored(observe, reason);
}

function isRemembered(value: unknown): boolean {
  const { revision, capabilities, at, tools = [] } = Object(value) as { readonly [name: string]: unknown };
  const isKnown = isFilled(revision) && isPlain(capabilities) && Number.isFinite(at);
  return isKnown && Array.isArray(tools) && tools.every(isRememberedTool);
}

function isRememberedTool(value: unknown): boolean {
  const { name, headers = [] } = Object(value) as { readonly [name: string]: unknown };
  return isFilled(name) && Array.isArray(headers) && headers.every(isRememberedHeader);
}

function isRememberedHeader(value: unknown): boolean {
  const { name, path } = Object(value) as { readonly name?: unknown; readonly path?: unknown };
  return typeof name === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(name) && texts.is(path);
}
