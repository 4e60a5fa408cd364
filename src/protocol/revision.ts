// What one protocol revision says, as questions that the rest of the code asks. The answers are in revisions/.

/** A dated protocol version. */
export type RevisionDate = string;

/** Something a server offers; a method that belongs to none is always there. */
export type Feature =
  | "tools"
  | "prompts"
  | "resources"
  | "completions"
  | "logging"
  | "subscribe"
  | "listen"
  | "tasks";

/** What the protocol says of one request that a client may send. */
export interface RequestRow {
  /** Offered only when the server has this feature; otherwise the method does not exist. */
  readonly feature?: Feature;
  /** The result carries `ttlMs` and `cacheScope`. */
  readonly cacheable?: true;
  /** Allowed before the client has said `notifications/initialized`. */
  readonly beforeInitialized?: true;
  /** A client must not cancel it; if it tries, nothing happens. */
  readonly uncancellable?: true;
  /** The reply is a stream from the start, and stays open. */
  readonly stream?: true;
  /** Over HTTP, the parameter that the `Mcp-Name` header repeats. */
  readonly mirrors?: string;
  /** May be answered with questions; then the client sends it again, and must repeat these parameters. */
  readonly repeats?: readonly string[];
}

/** One entry of a `subscriptions/listen` filter: the member, what it needs, and the notification it asks for. */
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
  /** The requests that a server may make of a client. */
  readonly clientRequests: ReadonlySet<string>;
  /** What a form may hold: plain fields, or titled choices, several choices and defaults too. */
  readonly forms: "plain" | "full";
  /** How many blocks of content a sampling message may have. */
  readonly samplingBlocks: "one" | "many";
  /** How a request is refused until the user has visited a page: by an error of its own, by asking, or not at all. */
  readonly urlRequired: "error" | "question" | "unknown";
  /** How a call becomes a task: its client asks for one, the server decides, or there are none. */
  readonly tasks: "core" | "extension" | "none";
  /** Over HTTP, a stream begins with an event that only has an id, so that it can be resumed from the start. */
  readonly primesStreams: boolean;
  /** How an id that could not be read is written. */
  readonly unreadableId: "null" | "omit";
  readonly resourceNotFoundCode: number;
  /** Arguments that do not fit the schema: an error of the protocol, or a tool result that the model can learn from. */
  readonly invalidArguments: "error" | "result";
  readonly structuredContent: "none" | "object" | "any";
  readonly serverCapabilities: ReadonlySet<string>;
  readonly fields: Readonly<Record<Shape, ReadonlySet<string>>>;
  /** Whether a handler's content may hold what this revision cannot carry, so that each block has to be looked at. */
  readonly degradesContent: boolean;
  /** Content blocks by type, with their fields; a type that is not here does not exist yet. */
  readonly content: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A table with more rows. */
export function withRows<K, V>(table: ReadonlyMap<K, V>, rows: Iterable<readonly [K, V]>): ReadonlyMap<K, V> {
  return new Map([...table, ...rows]);
}

/** A table with fewer rows. */
export function withoutRows<K, V>(table: ReadonlyMap<K, V>, keys: readonly K[]): ReadonlyMap<K, V> {
  return new Map([...table].filter(([key]) => !keys.includes(key)));
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

/** The fields of the shapes, with those that a revision added. */
export function withFields(fields: Fields, added: Partial<Record<Shape, readonly string[]>>): Fields {
  const entries = (Object.keys(fields) as Shape[]).map(
    (shape) => [shape, withMembers(fields[shape], added[shape] ?? [])] as const,
  );
  return Object.fromEntries(entries) as Fields;
}
