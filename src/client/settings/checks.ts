// Checks the options of `connect` and of calls, and fills in the defaults. What cannot work throws, and names the option.
import { isTimerMs } from "../../async/timers.ts";
import { ConfigurationError } from "../../errors.ts";
import { checkOptions, givenOf, type Known } from "../../options.ts";
import { extensionIdProblem } from "../../protocol/meta.ts";
import { isLogLevel, type Implementation, type LogLevel, logLevels } from "../../protocol/model.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import type { ClientEvent } from "./events.ts";
import { type Backoff, type ClientLimits, defaultBackoff, defaultClientLimits } from "./limits.ts";
import type { CallOptions, CallSettings, CommandTarget, ConnectOptions } from "./options.ts";

/** The options of `connect` with their defaults, as far as they have some. */
export interface ClientSettings extends Required<CallSettings> {
  readonly info: Implementation;
  readonly revision: string;
  readonly connectTimeoutMs: number;
  readonly cache: boolean;
  readonly backoff: Backoff;
  readonly limits: ClientLimits;
  readonly logLevel: LogLevel | undefined;
  readonly observe: ((event: ClientEvent) => void) | undefined;
}

/** The version that a client gives by default: the one of package.json. */
const version = "0.1.0";

const callDefaults: Required<CallSettings> = {
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

export const knownCallOptions: Known<CallOptions> = {
  ...callDefaults,
  signal: true,
  onProgress: true,
  headers: true,
  fresh: true,
  logLevel: true,
  inputRequired: true,
};

const knownInfo: Known<Implementation> = {
  name: true,
  version: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: true,
};

const knownConnectOptions: Known<ConnectOptions> = {
  ...callDefaults,
  info: knownInfo,
  revision: true,
  remembered: true,
  auth: true,
  headers: true,
  fetch: true,
  onElicit: { form: true, url: true },
  onSample: { answer: true, tools: true, context: true },
  roots: true,
  onLog: true,
  logLevel: true,
  capabilities: { experimental: true, extensions: true },
  connectTimeoutMs: true,
  backoff: defaultBackoff,
  cache: true,
  limits: defaultClientLimits,
  observe: true,
  record: true,
  signal: true,
};

export const knownCommand: Known<CommandTarget> = {
  command: true,
  args: true,
  cwd: true,
  env: true,
  restart: true,
  graceMs: true,
};

/** What an option must be, by its name, wherever it is given. */
const rules: Readonly<Record<string, readonly [isValid: (value: unknown) => boolean, mustBe: string]>> = {
  timeoutMs: [isTime, "must be a number of milliseconds from 1 to 2147483647"],
  maxTimeMs: [isTime, "must be a number of milliseconds from 1 to 2147483647"],
  ttlMs: [isTime, "must be a number of milliseconds from 1 to 2147483647"],
  connectTimeoutMs: [isTime, "must be a number of milliseconds from 1 to 2147483647"],
  reissue: [isOneOf("safe", "always", "never"), 'must be "safe", "always" or "never"'],
  inputRequired: [isOneOf("answer", "return"), 'must be "answer" or "return"'],
  strict: [isBoolean, "must be true or false"],
  throwOnError: [isBoolean, "must be true or false"],
  fresh: [isBoolean, "must be true or false"],
  cache: [isBoolean, "must be true or false"],
  logLevel: [isLogLevel, `must be one of ${logLevels.join(", ")}`],
  revision: [
    isOneOf("auto", ...revisions.map(({ date }) => date)),
    `must be "auto" or one of ${revisions.map(({ date }) => date).join(", ")}`,
  ],
  signal: [(value) => value instanceof AbortSignal, "must be an AbortSignal"],
  headers: [isHeaders, "must be an object of names and texts"],
  onProgress: [isFunction, "must be a function"],
  onLog: [isFunction, "must be a function"],
  observe: [isFunction, "must be a function"],
  record: [isFunction, "must be a function"],
  fetch: [isFunction, "must be a function"],
};

/** Throws for the first option of a call that does not exist or cannot work. `known`: those of the method. */
export function checkCallOptions(
  subject: string,
  options: CallOptions | undefined,
  known: object = knownCallOptions,
): void {
  if (options !== undefined) check(subject, options, known);
}

/** Throws for the first option of `connect` that does not exist or cannot work, and fills in the defaults. */
export function resolveOptions(options: ConnectOptions): ClientSettings {
  check("connect", options, knownConnectOptions);
  const { limits, backoff, observe, logLevel, onLog, ...given } = givenOf(options);
  checkNumbers("limits", limits);
  checkNumbers("backoff", backoff);
  const { name, version: own } = options.info ?? defaults.info;
  if (!isText(name) || !isText(own)) fail("connect", "info", "must have a name and a version");
  for (const id of Object.keys(options.capabilities?.extensions ?? {})) {
    const problem = extensionIdProblem(id);
    if (problem !== undefined) fail("connect", `capabilities.extensions["${id}"]`, problem);
  }
  return {
    ...defaults,
    ...given,
    limits: { ...defaultClientLimits, ...givenOf(limits) },
    backoff: { ...defaultBackoff, ...givenOf(backoff) },
    logLevel: logLevel ?? (onLog && "info"),
    observe: observe && guarded(observe),
  };
}

function check(subject: string, options: object, known: object): void {
  checkOptions({ subject }, options, known);
  for (const name in options) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    const rule = rules[name];
    if (rule !== undefined && value !== undefined && !rule[0](value)) fail(subject, name, rule[1]);
  }
}

function checkNumbers(field: string, numbers: object | undefined): void {
  for (const [name, value] of Object.entries(givenOf(numbers)))
    if (!Number.isSafeInteger(value) || value < 1)
      fail("connect", `${field}.${name}`, "must be a positive integer");
}

/** An observer whose exceptions end no call. */
function guarded(observe: (event: ClientEvent) => void): (event: ClientEvent) => void {
  return (event) => {
    try {
      observe(event);
    } catch {
      // There is nobody to tell: the observer is the one who is told.
    }
  };
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && isTimerMs(value);
}

function isBoolean(value: unknown): boolean {
  return typeof value === "boolean";
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isHeaders(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((text) => typeof text === "string")
  );
}

function isOneOf(...allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => allowed.includes(value as string);
}

function fail(subject: string, field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject, field }, problem);
}
