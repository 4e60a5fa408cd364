// The options of a dashboard: what each is, its kind and its default.
import { ConfigurationError } from "../base/errors.ts";
import { flag, func, isUrl, type Known, listOf, matching, port, preset, type Kind } from "../base/kinds.ts";
import { checkOptions, type Filled, withDefaults } from "../base/options.ts";

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
  readonly token?: string | undefined;
  /** The port that `serveHttp` opens for the dashboard on 127.0.0.1; 0 for any free port. @default {0} */
  readonly port?: number | undefined;
  /** Whether the page has a client that calls your tools. @default {false} */
  readonly tryIt?: boolean | undefined;
  /** Whether the page can end sessions. @default {false: it only reads} */
  readonly actions?: boolean | undefined;
  /** How many messages the dashboard keeps from the start; at most 10,000. @default {0: it keeps those of followed clients} */
  readonly history?: number | undefined;
  /** The URL of the MCP endpoint that the page calls. @default {the one that is served} */
  readonly endpoint?: string | undefined;
  /** The name of this process among the nodes of a cluster. @default {the address of its endpoint} */
  readonly node?: string | undefined;
  /** The host names, with or without a port, that browsers use for the dashboard besides the loopback ones; `*` for any. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Receives the address of the page, with its token, when `serveHttp` listens. @default {prints it to standard error} */
  readonly onOpen?: ((url: string) => void) | undefined;
}

/** The options, completed with their defaults. */
export interface DashboardSettings
  extends
    Filled<Pick<DashboardOptions, "port" | "tryIt" | "actions" | "history" | "allowedHosts">>,
    Pick<DashboardOptions, "token" | "endpoint" | "node" | "onOpen"> {}

/** Least characters of a token. Below it, `dashboard()` throws a `ConfigurationError`. */
const minToken = 16;
/** Messages of `history`. Past it, `dashboard()` throws a `ConfigurationError`. */
const longestHistory = 10_000;
const longestName = 100;
const tokenPattern = new RegExp(`^[\\x21-\\x7e]{${minToken},512}$`);

const messages: Kind<number> = {
  is: (value) => Number.isSafeInteger(value) && 0 <= (value as number) && (value as number) <= longestHistory,
  mustBe: `a number of messages from 0 to ${longestHistory}`,
};
const hosts = listOf(matching(/^[^/\s]+$/, ""), 'a list of hosts such as ["mcp.example.com"]');

const known: Known<DashboardOptions, DashboardSettings> = {
  token: {
    is: (value) => typeof value === "string" && tokenPattern.test(value),
    mustBe: `${minToken} to 512 visible ASCII characters, such as those of "openssl rand -hex 32"`,
    isSecret: true,
  },
  port: preset(port, 0),
  tryIt: preset(flag, false),
  actions: preset(flag, false),
  history: preset(messages, 0),
  endpoint: {
    is: (value) => isUrl(value) && isAddress(new URL(value)),
    mustBe: 'a URL such as "https://mcp.example.com/mcp", without a user name or password',
    isSecret: true,
  },
  node: {
    is: (value) => typeof value === "string" && value.trim() !== "" && value.length <= longestName,
    mustBe: `a name of at most ${longestName} characters`,
  },
  allowedHosts: preset(hosts, []),
  onOpen: { ...func, mustBe: "a function that takes the address of the page" },
};

/** Completes the options with their defaults. Throws for an invalid option. */
export function resolveDashboardOptions(options: DashboardOptions): DashboardSettings {
  checkOptions({ subject: "dashboard", problem: misnamedProblem }, options, known);
  return withDefaults(options, known);
}

const elsewhere =
  "it listens on 127.0.0.1 only; for other machines, mount its nodeHandler or fetchHandler with a token";
const instead: Readonly<Record<string, string>> = {
  host: elsewhere,
  hostname: elsewhere,
  password: "did you mean token?",
  secret: "did you mean token?",
};

function misnamedProblem(field: string): string | undefined {
  return Object.hasOwn(instead, field) ? `is not an option: ${instead[field]}` : undefined;
}

export function failOption(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "dashboard", field }, problem);
}

function isAddress({ protocol, username, password }: URL): boolean {
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}
