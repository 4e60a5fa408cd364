// The options of `connect`: their types, kinds and defaults.
import {
  either,
  flag,
  func,
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
  preset,
  signal,
  text,
  textRecord,
} from "../../base/kinds.ts";
import { type Filled, givenOf } from "../../base/options.ts";
import type { Root } from "../../protocol/asking.ts";
import {
  type ClientCapabilities,
  type Implementation,
  knownImplementation,
  type LogLevel,
} from "../../protocol/model.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import { type AuthOption, authOption, type HeaderFields } from "./auth.ts";
import type { ClientEvent } from "./events.ts";
import type {
  ElicitOption,
  LogEntry,
  NotificationHandlers,
  RequestHandlers,
  RootsOption,
  SampleOption,
} from "./handlers.ts";
import { type Backoff, type ClientLimits, defaultBackoff, defaultClientLimits } from "./limits.ts";
import { type Remembered, rememberedServer } from "./server-facts.ts";
import { type CallSettings, knownCallSettings, logLevel } from "./call-options.ts";

/** The options of `connect`. */
export interface ConnectOptions extends CallSettings {
  /** The name and version that the client sends. @default {{ name: "halyard-client", version }} */
  readonly info?: Implementation | undefined;
  /**
   * The revision to speak. `auto` negotiates the newest one that the server speaks; `modern` and `legacy` do so within their era.
   * @default {"auto"}
   */
  readonly revision?: string | undefined;
  /** What `client.remember()` returned earlier. It saves finding out the revision of the server. */
  readonly remembered?: Remembered | undefined;
  /** A token, a function that returns one, or an object that obtains credentials. */
  readonly auth?: AuthOption | undefined;
  /** Added to every HTTP request. */
  readonly headers?: HeaderFields | undefined;
  /** Sends HTTP requests. @default {node:http on Node, otherwise the global fetch} */
  readonly fetch?: typeof fetch | undefined;
  /** Answers questions to the user, and declares `elicitation`. */
  readonly onElicit?: ElicitOption | undefined;
  /** Asks your model, and declares `sampling`. */
  readonly onSample?: SampleOption | undefined;
  /** The folders that the server may work on; declares `roots`. */
  readonly roots?: RootsOption | undefined;
  /** Receives notifications that are not part of the protocol, or of an extension, by their method. For changes, use `client.listen`. */
  readonly onNotification?: NotificationHandlers | undefined;
  /** Answers requests of the server that are not part of the protocol, by their method. */
  readonly onRequest?: RequestHandlers | undefined;
  /** Receives the server's log messages. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** The lowest level of log messages. @default {"info", if there is onLog} */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Declares the tasks extension: a modern server may then run a call as a task, `callTool` waits for it, and `startTask` returns its
   * handle. The tasks of 2025-11-25 need no declaration. @default {false}
   */
  readonly tasks?: boolean | undefined;
  /**
   * Further capabilities to declare, such as extensions, whose identifiers have the form `vendor.prefix/name`. Only modern
   * servers receive `elicitation`, `sampling` and `roots` from here: declare those that you answer yourself, with `inputRequired:
   * "return"`.
   */
  readonly capabilities?:
    | Pick<ClientCapabilities, "elicitation" | "sampling" | "roots" | "experimental" | "extensions">
    | undefined;
  /**
   * Milliseconds that connecting, and each later attempt to reconnect, may take, except while a person signs in. After it,
   * `connect` fails with `CallTimeout`; a later attempt counts as failed. @default {30000}
   */
  readonly connectTimeoutMs?: number | undefined;
  /** How the client waits before it tries again. */
  readonly backoff?: Partial<Backoff> | undefined;
  /** Whether lists and reads are cached, as far as the server allows it. @default {true} */
  readonly cache?: boolean | undefined;
  readonly limits?: Partial<ClientLimits> | undefined;
  /** Receives the events of the client as they happen. */
  readonly observe?: ((event: ClientEvent) => void) | undefined;
  /** Receives each message as a line of JSON, without secrets, for {@link replay} of `halyard/testing`. */
  readonly record?: ((line: string) => void) | undefined;
  /** Aborts connecting. */
  readonly signal?: AbortSignal | undefined;
}

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

const handlers = {
  is: (value: unknown) => isPlain(value) && Object.values(value as object).every(isFunction),
  mustBe: 'an object of methods and functions, such as { "acme/news": (params) => console.log(params) }',
};

const knownRoot: Known<Root> = { uri: needed(text), name: text, _meta: plainObject };

export const knownConnectOptions: Known<ConnectOptions, ClientSettings> = {
  ...knownCallSettings,
  info: preset(optionsOf(knownImplementation), { name: "halyard-client", version }),
  revision: preset(oneOf("auto", "modern", "legacy", ...revisions.map(({ date }) => date)), "auto"),
  remembered: rememberedServer,
  auth: authOption,
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
  logLevel,
  tasks: flag,
  capabilities: optionsOf({
    elicitation: plainObject,
    sampling: plainObject,
    roots: plainObject,
    experimental: plainObject,
    extensions: plainObject,
  }),
  connectTimeoutMs: preset(milliseconds, 30_000),
  backoff: limitsOf(defaultBackoff),
  cache: preset(flag, true),
  limits: limitsOf(defaultClientLimits),
  observe: func,
  record: func,
  signal,
};
