// The options of a dashboard: their defaults, and the checks that throw as soon as you pass them.
import { ConfigurationError } from "../errors.ts";
import { checkOptions, givenOf, type Known } from "../options.ts";

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

/** One option: whether a value may stand, and what is wrong if not. The message never has the value of a token. */
interface Check {
  readonly is: (value: unknown) => boolean;
  readonly problem: (value: unknown) => string;
}

const flag: Check = {
  is: (value) => typeof value === "boolean",
  problem: (value) => `is ${shown(value)}: pass true or false`,
};

const checks: { readonly [Name in keyof Required<DashboardOptions>]: Check } = {
  token: {
    is: (value) => typeof value === "string" && /^[\x21-\x7e]{16,512}$/.test(value),
    problem: tokenProblem,
  },
  port: wholeNumber(65_535, "a port from 0 to 65535; 0 is any free port"),
  tryIt: flag,
  actions: flag,
  history: wholeNumber(longestHistory, `a number of messages from 0 to ${longestHistory}`),
  endpoint: {
    is: isEndpoint,
    problem: (value) => `is ${shown(value)}: pass a URL such as "https://mcp.example.com/mcp"`,
  },
  node: {
    is: (value) => typeof value === "string" && value.trim() !== "" && value.length <= longestName,
    problem: (value) => `is ${shown(value)}: pass a name of at most ${longestName} characters`,
  },
  allowedHosts: {
    is: (value) => Array.isArray(value) && value.every(isHost),
    problem: (value) => `is ${shown(value)}: pass an array of hosts such as ["mcp.example.com"]`,
  },
  onOpen: {
    is: (value) => typeof value === "function",
    problem: (value) => `is ${shown(value)}: pass a function that takes the address of the page`,
  },
};

const known: Known<DashboardOptions> = checks;

/** Completes the options with their defaults. Throws for an invalid option. */
export function resolveDashboardOptions(options: DashboardOptions): DashboardSettings {
  checkOptions({ subject: "dashboard" }, options, known);
  const given = givenOf(options);
  for (const [name, { is, problem }] of Object.entries(checks)) {
    const value = given[name as keyof DashboardOptions];
    if (value !== undefined && !is(value)) failOption(name, problem(value));
  }
  return { port: 0, tryIt: false, actions: false, history: 0, allowedHosts: [], ...given };
}

export function failOption(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "dashboard", field }, problem);
}

function wholeNumber(most: number, what: string): Check {
  return {
    is: (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most,
    problem: (value) => `is ${shown(value)}: pass ${what}`,
  };
}

function tokenProblem(value: unknown): string {
  const remedy = `pass ${leastToken} to ${longestToken} visible ASCII characters, such as those of "openssl rand -hex 32"`;
  if (typeof value !== "string") return `is not a string: ${remedy}`;
  if (value.length < leastToken) return `is too short, with ${value.length} characters: ${remedy}`;
  if (value.length > longestToken) return `is too long, with ${value.length} characters: ${remedy}`;
  return `has a space, a line break or a character beyond ASCII: ${remedy}`;
}

function isEndpoint(value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

function isHost(value: unknown): boolean {
  return typeof value === "string" && /^[^/\s]+$/.test(value);
}

/** A value as a message may show it. */
function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
