// The options of a dashboard: their defaults, and the checks that throw as soon as you pass them.
import { clip, ConfigurationError } from "../errors.ts";
import { checkOptions, givenOf } from "../options.ts";

/**
 * Options of {@link dashboard}; all are optional.
 *
 * @example
 * ```ts
 * import { dashboard, type DashboardOptions } from "halyard/dashboard";
 *
 * const options: DashboardOptions = { port: 4000, history: 500 };
 * const page = dashboard(options);
 * ```
 */
export interface DashboardOptions {
  /**
   * The secret that the page sends with every question: 16 to 512 visible ASCII characters. Required if you mount the dashboard
   * yourself. @default {a random one for each `serveHttp`}
   */
  readonly token?: string;
  /** The port that `serveHttp` opens for the dashboard on 127.0.0.1; 0 for any free port. @default {0} */
  readonly port?: number;
  /** Whether the page has a client that calls your tools. @default {false} */
  readonly tryIt?: boolean;
  /** Whether the page can end sessions. @default {false: it only reads} */
  readonly actions?: boolean;
  /** How many messages the dashboard keeps from the start; at most 10,000. @default {0: it keeps those of clients that you follow} */
  readonly history?: number;
  /** The URL of the MCP endpoint that the page calls. @default {the one that is served} */
  readonly endpoint?: string;
  /** The name of this process among the nodes of a cluster. @default {the address of its endpoint} */
  readonly node?: string;
  /** The host names, with or without a port, that browsers use for the dashboard besides the loopback ones; `*` for any. */
  readonly allowedHosts?: readonly string[];
  /** Receives the address of the page, with its token, when `serveHttp` listens. @default {prints it to standard error} */
  readonly onOpen?: (url: string) => void;
}

/** The options, completed with their defaults. */
export interface DashboardSettings
  extends
    Required<Pick<DashboardOptions, "port" | "tryIt" | "actions" | "history" | "allowedHosts">>,
    Pick<DashboardOptions, "token" | "endpoint" | "node" | "onOpen"> {}

const leastToken = 16;
const longestToken = 512;
const longestHistory = 10_000;
const longestName = 100;

/** Returns what is wrong with the value of an option, never with the value of a token in it; undefined if it may stand. */
type Check = (value: unknown) => string | undefined;

const flag = unless((value) => typeof value === "boolean", "true or false");
const hosts = 'an array of hosts such as ["mcp.example.com"]';

const checks: { readonly [Name in keyof Required<DashboardOptions>]: Check } = {
  token: tokenProblem,
  port: wholeNumber(65_535, "a port from 0 to 65535; 0 is any free port"),
  tryIt: flag,
  actions: flag,
  history: wholeNumber(longestHistory, `a number of messages from 0 to ${longestHistory}`),
  endpoint: endpointProblem,
  node: unless(isName, `a name of at most ${longestName} characters`),
  allowedHosts: unless((value) => Array.isArray(value) && value.every(isHost), hosts),
  onOpen: unless((value) => typeof value === "function", "a function that takes the address of the page"),
};

/** Completes the options with their defaults. Throws for an invalid option. */
export function resolveDashboardOptions(options: DashboardOptions): DashboardSettings {
  checkOptions({ subject: "dashboard" }, options, checks);
  const given = givenOf(options);
  for (const [name, value] of Object.entries(given)) {
    const problem = checks[name as keyof DashboardOptions](value);
    if (problem !== undefined) failOption(name, problem);
  }
  return { port: 0, tryIt: false, actions: false, history: 0, allowedHosts: [], ...given };
}

export function failOption(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "dashboard", field }, problem);
}

function unless(isRight: (value: unknown) => boolean, wanted: string): Check {
  return (value) => (isRight(value) ? undefined : `is ${shown(value)}: pass ${wanted}`);
}

function wholeNumber(most: number, wanted: string): Check {
  const isRight = (value: unknown): boolean =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most;
  return unless(isRight, wanted);
}

function tokenProblem(value: unknown): string | undefined {
  const remedy = `pass ${leastToken} to ${longestToken} visible ASCII characters, such as those of "openssl rand -hex 32"`;
  if (typeof value !== "string") return `is not a string: ${remedy}`;
  if (value.length < leastToken) return `is too short, with ${value.length} characters: ${remedy}`;
  if (value.length > longestToken) return `is too long, with ${value.length} characters: ${remedy}`;
  const isVisible = /^[\x21-\x7e]+$/.test(value);
  return isVisible ? undefined : `has a space, a line break or a character beyond ASCII: ${remedy}`;
}

function endpointProblem(value: unknown): string | undefined {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.username || url?.password) return "has a user name or a password: leave them out";
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  return isHttp ? undefined : `is ${shown(value)}: pass a URL such as "https://mcp.example.com/mcp"`;
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "" && value.length <= longestName;
}

function isHost(value: unknown): boolean {
  return typeof value === "string" && /^[^/\s]+$/.test(value);
}

/** A value as a message may show it. */
function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return clip(text ?? String(value));
}
