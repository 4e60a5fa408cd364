// The options of a server's core: what each is, its kind and its default.
import type { Backplane } from "../../cluster/node/backplane.ts";
import { type Logger, stderrLogger } from "../../base/logging/logger.ts";
import {
  count,
  flag,
  func,
  hasMethods,
  isPlain,
  type Kind,
  type Known,
  limitsOf,
  listOf,
  oneOf,
  options as optionsOf,
  plainObject,
  preset,
  type Table,
  text,
  wholeNumber,
  withMethods,
} from "../../base/kinds.ts";
import type { Filled } from "../../base/options.ts";
import { extensionIds } from "../../protocol/meta.ts";
import type { CacheHint } from "../../protocol/model.ts";
import { revisions as allRevisions } from "../../protocol/revisions/index.ts";
import type { ToJsonSchema } from "../../protocol/schema/publish.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import type { Context } from "../context/context.ts";
import type { ServerEvent } from "../diagnostics/events.ts";
import { defaultLimits, type ServerLimits } from "./limits.ts";

/** Which clients the server accepts, and whether it keeps sessions. */
export type ServerMode = "both" | "stateful" | "stateless";

/** The methods whose results have a cache hint. Resources and templates have their own. */
export type ListMethod =
  | "server/discover"
  | "tools/list"
  | "prompts/list"
  | "resources/list"
  | "resources/templates/list";

/** The capabilities that an author declares. The server announces changes wherever they can reach the client. */
export interface DeclaredCapabilities {
  readonly tools?: true | { readonly listChanged?: boolean | undefined } | undefined;
  readonly prompts?: true | { readonly listChanged?: boolean | undefined } | undefined;
  readonly resources?:
    | true
    | { readonly subscribe?: boolean | undefined; readonly listChanged?: boolean | undefined }
    | undefined;
  readonly completions?: true | object | undefined;
  /** `false` turns log messages off. @default {true} */
  readonly logging?: boolean | object | undefined;
  readonly experimental?: JsonObject | undefined;
  /** The settings of extensions by identifier: the same as `server.extension(identifier, { settings })` for each. */
  readonly extensions?: { readonly [identifier: string]: object } | undefined;
}

/** What a client sees of an unexpected exception: an error id (`hidden`), or its message. */
export type ShownErrors = "hidden" | "message";

/** The options of a server's core. All have defaults. */
export interface CoreOptions {
  /**
   * `both`: modern clients without a session, legacy clients with one. `stateful`: legacy clients only. `stateless`: no
   * sessions, so legacy clients get no notifications outside calls. @default {"both"}
   */
  readonly mode?: ServerMode | undefined;
  /**
   * The dates of the protocol revisions that the server supports. They must be compatible with `mode`. Without a legacy
   * revision there are no sessions. @default {all}
   */
  readonly supportedRevisions?: readonly string[] | undefined;
  /** Tells the client's model how to use this server. */
  readonly instructions?: string | undefined;
  /**
   * Declares capabilities before you register anything, as `true` or as the protocol writes them: `{ tools: {}, logging: {} }`.
   * The server derives them from what you register, so you need this only for what you register after clients have connected.
   * @default {what you have registered, and logging}
   */
  readonly capabilities?: DeclaredCapabilities | undefined;
  /** The number of definitions on one page of a list. Past it, the list continues on the next page. @default {1000} */
  readonly pageSize?: number | undefined;
  /** How long clients may cache lists. */
  readonly cache?: { readonly [Method in ListMethod]?: CacheHint } | undefined;
  /** Whether arguments are validated before the handler of a tool runs. @default {true} */
  readonly validateInput?: boolean | undefined;
  /** Whether the value that a tool returns is validated against its output schema. @default {true} */
  readonly validateOutput?: boolean | undefined;
  /**
   * Converts a schema to JSON Schema, for libraries whose schemas cannot do so themselves: pass `z.toJSONSchema` for Zod
   * before 4.2 and for `zod/mini`.
   */
  readonly toJsonSchema?: ToJsonSchema | undefined;
  /**
   * What a client sees of an unexpected exception: an error id, under which the log has the details, or its message. With
   * `message`, take care what your handlers throw: the model and the user can read it. @default {"hidden"}
   */
  readonly errors?: ShownErrors | undefined;
  /** Rejects requests of a legacy client until it has sent `notifications/initialized`. @default {false} */
  readonly requireInitialized?: boolean | undefined;
  /**
   * Decides whether a client may subscribe to the resource at `uri`; only `true` allows it. Otherwise a listen request opens
   * without the URI, and `resources/subscribe` responds as if there were no such resource. @default {every client may}
   */
  readonly authorizeSubscription?: ((uri: string, ctx: Context) => boolean | Promise<boolean>) | undefined;
  /** Called when a resource gets its first subscriber on this node, over any transport. */
  readonly onSubscribed?: ((uri: string) => void | Promise<void>) | undefined;
  /** Called when a resource loses its last subscriber on this node. */
  readonly onUnsubscribed?: ((uri: string) => void | Promise<void>) | undefined;
  /**
   * Which definitions with `scopes` appear in lists: only those that the caller may use, or all, so that a client can find
   * out which scopes to request. @default {"usable"}
   */
  readonly scopedLists?: "usable" | "all" | undefined;
  /**
   * Makes this process one node of several that behave like one server: `redisBackplane(client)` of `halyard/redis`, or
   * `natsBackplane(connection)` of `halyard/nats`. @default {a process on its own}
   */
  readonly backplane?: Backplane | undefined;
  /** The limits of sessions, queues, messages and times. Each has a default. */
  readonly limits?: Partial<ServerLimits> | undefined;
  /**
   * Receives log messages for operators: `error`, `warn`, `info` and `debug`. @default {warnings and errors to standard error}
   */
  readonly logger?: Logger | undefined;
  /** Called with every event of the server. Costs nothing if unset. */
  readonly observe?: ((event: ServerEvent) => void) | undefined;
}

/** The options, completed with their defaults. Those without a default may be missing. */
export interface CoreSettings
  extends
    Omit<Filled<CoreOptions>, Undefaulted | "limits">,
    Pick<CoreOptions, Exclude<Undefaulted, "supportedRevisions">> {
  readonly limits: ServerLimits;
}

type Undefaulted =
  | "supportedRevisions"
  | "instructions"
  | "toJsonSchema"
  | "authorizeSubscription"
  | "onSubscribed"
  | "onUnsubscribed"
  | "observe"
  | "backplane";

export const shownErrors: Kind<ShownErrors> = oneOf("hidden", "message");

export const knownCacheHint: Known<CacheHint> = {
  ttlMs: wholeNumber,
  scope: oneOf("public", "private"),
};

/** Every server has these capabilities: an author may declare them, but cannot turn them off. */
const always = {
  is: (value: unknown) => value === true,
  mustBe: "true, or left out: the server announces changes itself",
};

/** The kind of a capability; `inside` has the members that the protocol defines for it. */
function declared(inside: Table = {}): Kind<never> {
  return { is: (value) => value === true || isPlain(value), mustBe: "true, an object, or left out", inside };
}

const listChanged = declared({ listChanged: always });
const logging = {
  is: (value: unknown) => typeof value === "boolean" || isPlain(value),
  mustBe: "true, false or an object",
};
const fromTasks = "it follows from tools that have `task`";
const extensions = {
  is: (value: unknown) =>
    isPlain(value) && Object.values(value).every(isPlain) && !Object.hasOwn(value, extensionIds.tasks),
  mustBe: `an object with an object for each extension; leave out ${extensionIds.tasks}: ${fromTasks}`,
};

const knownCapabilities: Known<DeclaredCapabilities> = {
  tools: listChanged,
  prompts: listChanged,
  resources: declared({ subscribe: always, listChanged: always }),
  completions: declared(),
  logging,
  experimental: plainObject,
  extensions,
};

/** Capabilities that cannot be declared here, with the reason. */
const otherCapabilities: Table = {
  tasks: leftOut(fromTasks),
  ...Object.fromEntries(
    ["sampling", "elicitation", "roots"].map((name) => [name, leftOut("clients declare it, not servers")]),
  ),
};

function leftOut(reason: string): Kind {
  return { is: () => false, mustBe: `left out: ${reason}` };
}

const cacheHint = optionsOf(knownCacheHint);

const knownCaches: Known<NonNullable<CoreOptions["cache"]>> = {
  "server/discover": cacheHint,
  "tools/list": cacheHint,
  "prompts/list": cacheHint,
  "resources/list": cacheHint,
  "resources/templates/list": cacheHint,
};

const loggerKind: Kind<Logger> = {
  is: (value) => hasMethods(value, "debug", "info", "warn", "error") && !isPino(value),
  mustBe: "an object with debug, info, warn and error, such as console",
  remedy: (value) =>
    isPino(value)
      ? "pino takes the object first, so wrap it: warn: (message, details) => log.warn(details, message)"
      : undefined,
};

export const knownCoreOptions: Known<CoreOptions, CoreSettings> = {
  mode: preset(oneOf("both", "stateful", "stateless"), "both"),
  supportedRevisions: listOf(
    text,
    `a list of dates: choose from ${allRevisions.map(({ date }) => date).join(", ")}`,
  ),
  instructions: text,
  capabilities: preset(optionsOf({ ...knownCapabilities, ...otherCapabilities }), {}),
  pageSize: preset(count, 1000),
  cache: preset(optionsOf(knownCaches), {}),
  validateInput: preset(flag, true),
  validateOutput: preset(flag, true),
  toJsonSchema: func,
  errors: preset(shownErrors, "hidden"),
  requireInitialized: preset(flag, false),
  authorizeSubscription: func,
  onSubscribed: func,
  onUnsubscribed: func,
  scopedLists: preset(oneOf("usable", "all"), "usable"),
  // Check both methods, since an ioredis client also has a method `cluster`.
  backplane: {
    ...withMethods("redisBackplane(client) or natsBackplane(connection)", "cluster", "open"),
    remedy: (value) => (hasMethods(value, "duplicate") ? "pass redisBackplane(client)" : undefined),
  },
  limits: limitsOf(defaultLimits),
  logger: preset(loggerKind, stderrLogger),
  observe: func,
};

function isPino(value: unknown): boolean {
  return hasMethods(value, "bindings", "child");
}
