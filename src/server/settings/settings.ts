// The settings of a server's core: the options behind them, their defaults, and the mistakes that are found when it is made.
import type { ServerEvent } from "../../diagnostics/events.ts";
import { guardedLogger, guardedObserver } from "../../diagnostics/guarded.ts";
import { type Logger, stderrLogger } from "../../diagnostics/logger.ts";
import { ConfigurationError } from "../../errors.ts";
import { checkOptions, givenOf, type Known } from "../../options.ts";
import type { CacheHint, Implementation } from "../../protocol/model.ts";
import { SpokenRevisions } from "../../protocol/revisions/index.ts";
import type { ToJsonSchema } from "../../schema/compile.ts";
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { Context } from "../context/context.ts";
import {
  checkCacheHint,
  checkErrors,
  iconProblem,
  knownCacheHint,
  knownIcon,
  type ShownErrors,
} from "./checks.ts";
import { defaultLimits, type ServerLimits } from "./limits.ts";

/** Which clients are served, and how. */
export type ServerMode = "both" | "stateful" | "stateless";

/** The methods whose results carry a cache hint. A resource or template has its own. */
export type ListMethod =
  | "server/discover"
  | "tools/list"
  | "prompts/list"
  | "resources/list"
  | "resources/templates/list";

/** How the core of a server behaves; everything has a default. */
export interface CoreOptions {
  /**
   * `both`: modern clients statelessly, legacy clients with a session. `stateful`: legacy clients only.
   * `stateless`: no sessions, so legacy clients get no pushes. @default {"both"}
   */
  readonly mode?: ServerMode;
  /**
   * The dates of the revisions that are spoken, out of all that Halyard knows; none of them may need what `mode` leaves out.
   * Without a legacy one there are no sessions. @default {all}
   */
  readonly supportedRevisions?: readonly string[];
  /** What a model should know about using this server. */
  readonly instructions?: string;
  /** Declares ahead what will be registered later; `logging: false` takes the log away. */
  readonly capabilities?: {
    readonly tools?: true;
    readonly prompts?: true;
    readonly resources?: true;
    readonly completions?: true;
    readonly logging?: boolean;
    readonly experimental?: JsonObject;
  };
  /** How many definitions a page of a list holds. @default {1000} */
  readonly pageSize?: number;
  /** How long lists may be cached. */
  readonly cache?: { readonly [Method in ListMethod]?: CacheHint };
  /** Whether arguments are checked before a tool sees them. @default {true} */
  readonly validateInput?: boolean;
  /** Whether what a tool returns is checked against its output schema. @default {true} */
  readonly validateOutput?: boolean;
  /**
   * Writes a schema as JSON Schema where its library does not attach that to the schema itself: Zod before 4.2, and
   * `zod/mini`, with `toJsonSchema: z.toJSONSchema`.
   */
  readonly toJsonSchema?: ToJsonSchema;
  /**
   * What a client sees of an exception that was not meant for it: an id, under which the log has the rest, or its message.
   * With `message`, take care what your handlers throw: a model, and whoever reads along, gets to see it. @default {"hidden"}
   */
  readonly errors?: ShownErrors;
  /** Refuse requests of a legacy client until it has sent `notifications/initialized`. @default {false} */
  readonly requireInitialized?: boolean;
  /**
   * Whether a client may be told of changes of the resource at `uri`; anything but `true` refuses. A listen request goes on
   * without the URI, `resources/subscribe` is answered as if there were no such resource. @default {everybody may}
   */
  readonly authorizeSubscription?: (uri: string, ctx: Context) => boolean | Promise<boolean>;
  /** Called when a resource gets its first subscriber, over whichever transport. */
  readonly onSubscribed?: (uri: string) => void | Promise<void>;
  /** Called when a resource has lost its last subscriber. */
  readonly onUnsubscribed?: (uri: string) => void | Promise<void>;
  /**
   * What lists show of definitions with `scopes`: those that the caller may use, or all, so that a client can find what it
   * may ask more scopes for. @default {"usable"}
   */
  readonly scopedLists?: "usable" | "all";
  readonly limits?: Partial<ServerLimits>;
  /** @default {warnings and errors to standard error} */
  readonly logger?: Logger;
  /** Sees what happens inside; costs nothing when unset. */
  readonly observe?: (event: ServerEvent) => void;
}

/** The options with every default filled in; those that have none may be missing. */
export interface Settings
  extends Omit<Required<CoreOptions>, Undefaulted | "supportedRevisions" | "scopedLists">, Optional {
  readonly revisions: SpokenRevisions;
  /** Whether lists show what the caller lacks scopes for. */
  readonly listsAll: boolean;
  readonly limits: ServerLimits;
}

type Undefaulted =
  | "instructions"
  | "toJsonSchema"
  | "authorizeSubscription"
  | "onSubscribed"
  | "onUnsubscribed"
  | "observe";

type Optional = Pick<CoreOptions, Undefaulted>;

const knownCapabilities: Known<NonNullable<CoreOptions["capabilities"]>> = {
  tools: true,
  prompts: true,
  resources: true,
  completions: true,
  logging: true,
  experimental: true,
};

const knownCaches: Known<NonNullable<CoreOptions["cache"]>> = {
  "server/discover": knownCacheHint,
  "tools/list": knownCacheHint,
  "prompts/list": knownCacheHint,
  "resources/list": knownCacheHint,
  "resources/templates/list": knownCacheHint,
};

export const knownCoreOptions: Known<CoreOptions> = {
  mode: true,
  supportedRevisions: true,
  instructions: true,
  capabilities: knownCapabilities,
  pageSize: true,
  cache: knownCaches,
  validateInput: true,
  validateOutput: true,
  toJsonSchema: true,
  errors: true,
  requireInitialized: true,
  authorizeSubscription: true,
  onSubscribed: true,
  onUnsubscribed: true,
  scopedLists: true,
  limits: defaultLimits,
  logger: true,
  observe: true,
};

const knownInfo: Known<Implementation> = {
  name: true,
  version: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: knownIcon,
};

/** Fills in the defaults. Throws for an option that cannot work; unknown names have been refused before. */
export function resolveSettings(options: CoreOptions): Settings {
  const { pageSize = 1000, cache = {} } = options;
  const limits = givenOf(options.limits);
  const logger = guardedLogger(options.logger ?? stderrLogger);
  const { mode, revisions } = resolveRevisions(options);
  checkErrors("server", options.errors, "INVALID_OPTION");
  if (!isPositiveInteger(pageSize)) refuseOption("pageSize", "must be a positive integer");
  for (const [method, hint] of Object.entries(cache)) checkCacheHint("options", `cache["${method}"]`, hint);
  for (const [name, limit] of Object.entries(limits)) {
    if (!isPositiveInteger(limit)) refuseOption(`limits.${name}`, "must be a positive integer");
  }
  if (mode === "stateless" && options.requireInitialized) {
    refuseOption(
      "requireInitialized",
      'needs a session, which mode "stateless" does not have: use "both" or "stateful"',
    );
  }
  const { supportedRevisions: _, scopedLists, observe, ...given } = givenOf(options);
  return {
    capabilities: {},
    pageSize,
    cache,
    validateInput: true,
    validateOutput: true,
    errors: "hidden",
    requireInitialized: false,
    ...given,
    mode,
    revisions,
    listsAll: scopedLists === "all",
    limits: { ...defaultLimits, ...limits },
    logger,
    ...(observe && { observe: guardedObserver(observe, logger) }),
  };
}

/** The revisions that are spoken, and the mode that is left when they are of one era. */
function resolveRevisions({
  mode = "both",
  supportedRevisions,
}: CoreOptions): Pick<Settings, "mode" | "revisions"> {
  if (!["both", "stateful", "stateless"].includes(mode))
    refuseOption("mode", "must be both, stateful or stateless");
  const known = new SpokenRevisions(({ era }) => mode !== "stateful" || era === "legacy");
  if (supportedRevisions === undefined) return { mode, revisions: known };
  const choice = `${mode === "stateful" ? 'with mode "stateful" ' : ""}choose from ${known.dates().join(", ")}`;
  if (!Array.isArray(supportedRevisions) || supportedRevisions.length === 0)
    refuseOption("supportedRevisions", `must be a list of dates that is not empty: ${choice}`);
  const unknown = supportedRevisions.find((date) => known.find(date) === undefined);
  if (unknown !== undefined) refuseOption("supportedRevisions", `has ${JSON.stringify(unknown)}: ${choice}`);
  const revisions = new SpokenRevisions(({ date }) => supportedRevisions.includes(date));
  if (revisions.legacy === undefined) return { mode: "stateless", revisions };
  return { mode: revisions.modern === undefined && mode === "both" ? "stateful" : mode, revisions };
}

export function checkImplementation(info: Implementation): void {
  for (const field of ["name", "version"] as const) {
    if (!isObject(info) || typeof info[field] !== "string" || info[field] === "")
      refuseOption(field, "must be a string that is not empty");
  }
  checkOptions({ subject: "server" }, info, knownInfo);
  for (const icon of info.icons ?? []) {
    const problem = iconProblem(icon);
    if (problem !== undefined) refuseOption("icons", problem);
  }
}

function isPositiveInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Throws for an option of the server that cannot work. */
export function refuseOption(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "server", field }, problem);
}
