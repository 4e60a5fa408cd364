// Checks the options of `connect` and of calls, and fills in the defaults. What cannot work throws, and names the option.
import { isTimerMs } from "../../async/timers.ts";
import { clip, ConfigurationError } from "../../errors.ts";
import { checkOptions, givenOf, type Known } from "../../options.ts";
import { extensionIdProblem } from "../../protocol/meta.ts";
import {
  isLogLevel,
  type Implementation,
  knownImplementation,
  type LogLevel,
  logLevels,
} from "../../protocol/model.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import { isObject } from "../../wire/message.ts";
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

export const knownConnectOptions: Known<ConnectOptions> = {
  ...callDefaults,
  info: knownImplementation,
  revision: true,
  remembered: true,
  auth: true,
  headers: true,
  fetch: true,
  onElicit: { form: true, url: true },
  onSample: { answer: true, tools: true, context: true },
  roots: { uri: true, name: true, _meta: true },
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

const knownCommand: Known<CommandTarget> = {
  command: true,
  args: true,
  cwd: true,
  env: true,
  restart: true,
  graceMs: true,
};

type Rule = readonly [isValid: (value: unknown) => boolean, mustBe: string];

const time: Rule = [isTime, "must be a number of milliseconds from 1 to 2147483647"];
const flag: Rule = [(value) => typeof value === "boolean", "must be true or false"];
const callback: Rule = [isFunction, "must be a function"];
const texts: Rule = [isTexts, "must be a plain object of names and texts"];
const object: Rule = [isObject, "must be an object"];

/** What an option must be, by its name, wherever it is given. */
const rules: Readonly<Record<string, Rule>> = {
  timeoutMs: time,
  maxTimeMs: time,
  ttlMs: time,
  connectTimeoutMs: time,
  graceMs: time,
  reissue: [isOneOf("safe", "always", "never"), 'must be "safe", "always" or "never"'],
  inputRequired: [isOneOf("answer", "return"), 'must be "answer" or "return"'],
  strict: flag,
  throwOnError: flag,
  fresh: flag,
  cache: flag,
  restart: flag,
  logLevel: [isLogLevel, `must be one of ${logLevels.join(", ")}`],
  revision: [
    isOneOf("auto", ...revisions.map(({ date }) => date)),
    `must be "auto" or one of ${revisions.map(({ date }) => date).join(", ")}`,
  ],
  signal: [(value) => value instanceof AbortSignal, "must be an AbortSignal"],
  headers: texts,
  context: texts,
  env: texts,
  info: object,
  limits: object,
  backoff: object,
  capabilities: object,
  remembered: [isRemembered, "must be what client.remember() returned"],
  auth: [
    (value) => isText(value) || isFunction(value) || hasFunction(value, "headers"),
    "must be a token, a function that returns one, or an object with headers()",
  ],
  onElicit: [
    (value) => isFunction(value) || isFunctions(value),
    "must be a function, or an object with a function form, url or both",
  ],
  onSample: [
    (value) => isFunction(value) || hasFunction(value, "answer"),
    "must be a function, or an object with a function answer",
  ],
  roots: [
    (value) => Array.isArray(value) || isFunction(value),
    'must be a list such as [{ uri: "file:///home/ada" }], or a function that returns one',
  ],
  onProgress: callback,
  onLog: callback,
  onChange: callback,
  observe: callback,
  record: callback,
  fetch: callback,
  command: [isText, "must be the program to start"],
  args: [
    (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
    'must be a list of texts, such as ["server.js"]',
  ],
  cwd: [isText, "must be the path of a folder"],
};

/** Throws for the first option of the command of a stdio server that does not exist or cannot work. */
export function checkCommand(target: CommandTarget): void {
  check("connect", target, knownCommand);
}

/** Throws for the first option of a call that does not exist or cannot work. `known`: those of the method. */
export function checkCallOptions(
  subject: string,
  options: object | undefined,
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
    if (rule !== undefined && value !== undefined && !rule[0](value))
      fail(subject, name, `${rule[1]}${shown(name, value)}`);
  }
}

function checkNumbers(field: string, numbers: object | undefined): void {
  for (const [name, value] of Object.entries(givenOf(numbers)))
    if (!Number.isSafeInteger(value) || value < 1)
      fail("connect", `${field}.${name}`, "must be a positive integer");
}

/** An observer, of events or of messages, whose exceptions end no call. */
export function guarded<Seen>(observe: (seen: Seen) => void): (seen: Seen) => void {
  return (seen) => {
    try {
      observe(seen);
    } catch {
      // There is nobody to tell: the observer is the one who is told.
    }
  };
}

function isTime(value: unknown): boolean {
  return typeof value === "number" && isTimerMs(value);
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** A `Map` or `Headers` has no names of its own, so that its content would be left out in silence. */
function isTexts(value: unknown): boolean {
  return (
    isObject(value) &&
    !(Symbol.iterator in value) &&
    Object.values(value).every((text) => typeof text === "string")
  );
}

function isFunctions(value: unknown): boolean {
  const given = isObject(value) ? Object.values(givenOf(value)) : [];
  return given.length > 0 && given.every(isFunction);
}

function hasFunction(value: unknown, name: string): boolean {
  return isObject(value) && isFunction(value[name]);
}

function isRemembered(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value["revision"]) &&
    isObject(value["capabilities"]) &&
    typeof value["at"] === "number"
  );
}

function isOneOf(...allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => allowed.includes(value as string);
}

/** These may hold secrets, which belong in no error. */
const secret: ReadonlySet<string> = new Set(["auth", "headers", "env"]);

/** The wrong value as the end of a message, if it is short and no secret. */
function shown(name: string, value: unknown): string {
  if (typeof value === "object" || isFunction(value) || secret.has(name)) return "";
  return `: got ${clip(typeof value === "string" ? JSON.stringify(value) : String(value))}`;
}

function fail(subject: string, field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject, field }, problem);
}
