// The properties in which protocol revisions differ. Each file in revisions/ holds the values of one.

/** A dated protocol version. */
export type RevisionDate = string;

/** A feature of a server. A method without a feature is always available. */
export type Feature =
  | "tools"
  | "prompts"
  | "resources"
  | "completions"
  | "logging"
  | "subscribe"
  | "listen"
  | "tasks";

/** The rules for one request that a client may send. */
export interface RequestRow {
  /** The method belongs to an extension or to the author, and not to the protocol. */
  readonly isAdded?: true;
  /** Offered only when the server has this feature; otherwise the method does not exist. */
  readonly feature?: Feature;
  /** The result carries `ttlMs` and `cacheScope`. */
  readonly cacheable?: true;
  /** Allowed before the client sends `notifications/initialized`. */
  readonly beforeInitialized?: true;
  /** The client must not cancel it; the server ignores an attempt. */
  readonly uncancellable?: true;
  /** The response is a stream from the start, and stays open. */
  readonly stream?: true;
  /** Over HTTP, the parameter that the `Mcp-Name` header repeats. */
  readonly mirrors?: string;
  /** The server may respond with questions. The client then sends the request again and must repeat these parameters. */
  readonly repeats?: readonly string[];
}

/** One member of a `subscriptions/listen` filter: the notification it subscribes to, and the feature it needs. */
export interface ListenRow {
  readonly kind: "flag" | "keys";
  readonly notification: string;
  readonly feature: Feature;
}

/** The objects whose fields differ between revisions. */
export type Shape =
  | "implementation"
  | "tool"
  | "prompt"
  | "promptArgument"
  | "resource"
  | "resourceTemplate"
  | "annotations"
  | "contents"
  | "progress"
  | "elicitation"
  | "sampling";

/** Everything that Halyard needs to know about one revision. */
export interface Revision {
  readonly date: RevisionDate;
  /** modern: every request stands alone; legacy: an `initialize` handshake comes first. */
  readonly era: "modern" | "legacy";
  readonly requests: ReadonlyMap<string, RequestRow>;
  readonly listens: ReadonlyMap<string, ListenRow>;
  readonly hasBatches: boolean;
  /** Over HTTP, every request after the handshake carries the header `MCP-Protocol-Version`. */
  readonly hasVersionHeader: boolean;
  /** The requests that a server may send to a client. */
  readonly clientRequests: ReadonlySet<string>;
  /** The fields of a form: plain fields only, or also titled choices, multiple choices and defaults. */
  readonly forms: "plain" | "full";
  /** How many blocks of content a sampling message may have. */
  readonly samplingBlocks: "one" | "many";
  /** How the server rejects a request until the user has visited a page: with an error, with a question, or not at all. */
  readonly urlRequired: "error" | "question" | "unknown";
  /** How a call becomes a task: the client requests it (`core`), the server decides (`extension`), or never. */
  readonly tasks: "core" | "extension" | "none";
  /** Over HTTP, a stream begins with an event that has only an id, so that the client can resume from the start. */
  readonly primesStreams: boolean;
  /** The id of the response to a request whose id could not be read: null, or none. */
  readonly unreadableId: null | undefined;
  readonly resourceNotFoundCode: number;
  /** How the server reports arguments that do not match the schema: a protocol error, or a tool result for the model. */
  readonly invalidArguments: "error" | "result";
  readonly structuredContent: "none" | "object" | "any";
  readonly serverCapabilities: ReadonlySet<string>;
  readonly fields: Readonly<Record<Shape, ReadonlySet<string>>>;
  /** Whether this revision lacks some content blocks or fields, so that the codec must check each block. */
  readonly degradesContent: boolean;
  /** Content blocks by type, with their fields. The revision has no other types. */
  readonly content: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A set of names, which the text separates by spaces. */
export function names(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** The same rule for several requests. */
export function rows(requests: string, row: RequestRow): [request: string, row: RequestRow][] {
  return requests.split(" ").map((request) => [request, row]);
}

/** A table with more rows. */
export function withRows<K, V>(
  table: ReadonlyMap<K, V>,
  added: Iterable<readonly [K, V]>,
): ReadonlyMap<K, V> {
  return new Map([...table, ...added]);
}

/** A table with fewer rows. */
export function withoutRows<K, V>(table: ReadonlyMap<K, V>, keys: ReadonlySet<K>): ReadonlyMap<K, V> {
  return new Map([...table].filter(([key]) => !keys.has(key)));
}

/** A set with more members. */
export function withMembers<T>(set: ReadonlySet<T>, members: Iterable<T>): ReadonlySet<T> {
  return new Set([...set, ...members]);
}

/** A set with fewer members. */
export function withoutMembers<T>(set: ReadonlySet<T>, members: readonly T[]): ReadonlySet<T> {
  return new Set([...set].filter((member) => !members.includes(member)));
}

type Fields = Revision["fields"];

/** The fields of each shape, and those that a revision adds, separated by spaces. */
export function withFields(fields: Fields, added: Partial<Record<Shape, string>>): Fields {
  const more = Object.entries(added).map(([shape, text]) => [
    shape,
    withMembers(fields[shape as Shape], names(text)),
  ]);
  return { ...fields, ...(Object.fromEntries(more) as Partial<Fields>) };
}
