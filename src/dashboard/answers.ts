// The contract of page, server and nodes: the questions of the page and the answers of a server. Only types.
import type { RecordedLine } from "../client/index.ts";
import type { LogLevel } from "../protocol/model.ts";

/** The questions by name, each with its members. A page sends `{ ask: name, ...members }`. */
export interface Questions {
  about: object;
  now: object;
  sessions: Search;
  streams: Search;
  tools: Search;
  topics: Search;
  /** The kept calls: the last ones, and the last ones that failed. */
  calls: Search;
  /** One call with its input and its result. Asked only while its page is open. */
  call: { readonly id: string };
  /** Follows the client from now on, until the page stops asking. `after`: only entries that changed after that mark. */
  timeline: { readonly peer: string; readonly after?: number };
  /** The messages behind entries of a timeline, with arguments and results. Sent only when the user opens them. */
  messages: { readonly peer: string; readonly entries: readonly string[] };
  /** Everything that was heard of a client, in the format of the client's recordings. */
  recording: { readonly peer: string };
  /** Ends a session; refused unless the dashboard has `actions: true`. */
  end: { readonly peer: string };
}

export interface Search {
  /** Only rows that contain this text, in any case. */
  readonly search?: string;
}

/** The answers to {@link Questions}, after the answers of all nodes are merged. */
export interface Answers {
  about: About;
  now: Now;
  sessions: Rows<SessionRow>;
  streams: Rows<StreamRow>;
  tools: Rows<ToolRow>;
  topics: Rows<TopicRow>;
  calls: Rows<CallRow>;
  call: CallDetails;
  timeline: Timeline;
  messages: Messages;
  recording: Messages;
  end: { readonly ended: number };
}

export type Ask = keyof Questions;

/** Known when the page opens, and constant. */
export interface About {
  /** The name and version of the MCP server. */
  readonly name: string;
  readonly version: string;
  /** The revisions that it speaks, newest first. */
  readonly revisions: readonly string[];
  /** The newest revision of each era, if it speaks that. */
  readonly newest: { readonly modern?: string | undefined; readonly legacy?: string | undefined };
  /** The URL of the MCP endpoint, if this process knows it. */
  readonly endpoint: string | undefined;
  readonly tryIt: boolean;
  readonly actions: boolean;
  /** Messages that each node keeps from the start; 0 if it keeps only those of followed clients. */
  readonly history: number;
}

/** The part of every answer about the nodes that were asked. */
export interface FromNodes {
  /** This node first; one node if there is no cluster. */
  readonly nodes: readonly NodeRow[];
}

/** One node of the cluster, as the node that the page talks to sees it. */
export interface NodeRow {
  readonly id: string;
  /** The name that the node gives itself, the same after a restart: by default the address of its endpoint. */
  readonly name: string;
  readonly isSelf: boolean;
  /** `silent`: it did not answer in time. `left`: it has left, and may return. `deaf`: it runs without a dashboard. */
  readonly state: "answers" | "silent" | "left" | "deaf";
  /** Milliseconds since it last answered; 0 if it answers. */
  readonly silentMs: number;
  /** How long its answer took, in milliseconds. */
  readonly roundTripMs: number | undefined;
  /** The following values are from its last answer. */
  readonly version: string;
  readonly uptimeMs: number;
  /** The longest time that its event loop was late in the last second, in milliseconds. */
  readonly loopDelayMs: number;
  readonly memoryBytes: number | undefined;
  readonly counts: Counts;
}

/** What is open on a node, or on all nodes together. */
export interface Counts {
  readonly sessions: number;
  readonly streams: number;
  /** Open listen requests of modern clients, and resources that legacy sessions subscribe to. */
  readonly subscriptions: number;
  readonly inFlight: number;
  /** Questions to clients without an answer yet. */
  readonly questions: number;
  readonly tasks: number;
  /** Bytes that slow readers have not taken. */
  readonly unsentBytes: number;
  /** Bytes that are kept so that streams can be resumed. */
  readonly keptBytes: number;
}

export interface Now extends FromNodes {
  readonly counts: Counts;
  readonly series: Series;
  /** Of the last minute. */
  readonly callsPerSecond: number;
  readonly refusals: readonly RefusalRow[];
  /** The last calls, newest first; at most 30. */
  readonly calls: readonly CallRow[];
  /** For how many milliseconds the page has been open, and figures were sampled. */
  readonly sampledMs: number;
  /** Whether there were so many calls that latencies and the figures of tools are estimates; calls are always all counted. */
  readonly isEstimate: boolean;
}

/** One value for each second, oldest first; the last second is complete. `null` where nothing is known. */
export interface Series {
  /** Seconds since 1970 of the first value. */
  readonly from: number;
  readonly calls: readonly (number | null)[];
  readonly errors: readonly (number | null)[];
  /** Milliseconds. */
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

export interface RefusalRow {
  readonly reason: string;
  readonly status: number | undefined;
  readonly errorCode: number;
  readonly count: number;
  /** Milliseconds since the last one. */
  readonly agoMs: number;
}

export interface CallRow {
  /** Unique on all nodes. */
  readonly id: string;
  readonly peer: string;
  readonly method: string;
  readonly name: string | undefined;
  readonly client: string | undefined;
  readonly revision: string;
  /** Of its task, once that has ended, if the call became one. */
  readonly durationMs: number;
  /** `working`: the task that the call became is still running. */
  readonly outcome: "ok" | "error" | "cancelled" | "working";
  readonly errorCode: number | undefined;
  /** The id that the client got, if the handler threw an unexpected error. */
  readonly errorId: string | undefined;
  /** Why it failed: the message of what the handler threw, or what the client was told. Secrets are replaced. */
  readonly reason: string | undefined;
  readonly agoMs: number;
  readonly node: string;
}

/** The texts are JSON in which secrets are replaced. */
export interface CallDetails extends FromNodes {
  /** Undefined if no node keeps it any more. */
  readonly call: CallRow | undefined;
  readonly input: KeptText | undefined;
  /** The result or the error that the client got. */
  readonly output: KeptText | undefined;
  /** What the handler threw, with its stack. */
  readonly thrown: string | undefined;
  /** The id of the task that it became. */
  readonly task: string | undefined;
}

/** A text, or the beginning of a long one. */
export interface KeptText {
  readonly text: string;
  /** The characters of the whole text. */
  readonly length: number;
}

/** At most 200 rows of all nodes together, and the total number. */
export interface Rows<Row> extends FromNodes {
  readonly rows: readonly Row[];
  /** How many match; more than the rows if some were left out. */
  readonly total: number;
}

/** One client: a legacy session, or a modern client, which is known by its caller and its name. */
export interface SessionRow {
  /** Names the client in questions and links: a digest, since a session id is a secret. */
  readonly peer: string;
  readonly era: "legacy" | "modern";
  readonly transport: string;
  readonly revision: string | undefined;
  /** The name and version that the client gives itself. */
  readonly client: string | undefined;
  /** The subject of its token, shortened; or its address, if it has no principal. */
  readonly who: string | undefined;
  readonly node: string;
  readonly idleMs: number;
  /** Calls that run now. */
  readonly running: number;
  readonly streams: number;
  readonly subscriptions: number;
  readonly logLevel: LogLevel | undefined;
  /** Bytes in its mailbox and in its connections that it has not read. */
  readonly queuedBytes: number;
  /** Since the page was opened. */
  readonly resumes: number;
  readonly gaps: number;
}

/** One stream to a client. */
export interface StreamRow {
  /** Unique on its node, and the same in each answer. */
  readonly id: number;
  readonly peer: string;
  readonly kind: "get" | "post" | "listen" | "sse";
  /** `lost`: the client is away and may resume it. */
  readonly state: "open" | "lost";
  readonly client: string | undefined;
  readonly who: string | undefined;
  readonly revision: string | undefined;
  readonly node: string;
  /** Milliseconds in its state. */
  readonly ageMs: number;
  /** The last event id, shortened; undefined if the stream cannot be resumed. */
  readonly lastEventId: string | undefined;
  /** Bytes that wait in its connection. */
  readonly unsentBytes: number;
  /** Bytes that wait in the mailbox of its listener. */
  readonly queuedBytes: number;
  readonly writtenBytes: number;
  readonly isBehind: boolean;
  /** Since the page was opened. */
  readonly resumes: number;
  readonly gaps: number;
  readonly subscriptions: number;
}

/** A tool, or any other method. */
export interface ToolRow {
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly name: string | undefined;
  /** Since the page was opened. */
  readonly calls: number;
  readonly errors: number;
  readonly cancelled: number;
  /** Milliseconds. */
  readonly p50: number | undefined;
  readonly p90: number | undefined;
  readonly p99: number | undefined;
  readonly longestMs: number | undefined;
  readonly errorCodes: readonly { readonly code: number; readonly count: number }[];
  readonly running: number;
  /** How long the oldest running call has taken. */
  readonly runningMs: number | undefined;
}

export interface TopicRow {
  /** The notification, such as `notifications/resources/updated`. */
  readonly notification: string;
  /** The URI or another key, if the topic has one. */
  readonly key: string | undefined;
  readonly listeners: number;
  /** Some of them. */
  readonly who: readonly { readonly peer: string; readonly client: string | undefined }[];
  /** The last pushes since the page was opened, newest first; at most 5. */
  readonly pushes: readonly { readonly agoMs: number; readonly delivered: number; readonly node: string }[];
  /** How many pushes there were, and how many messages waited in a mailbox and were replaced by a later one. */
  readonly pushed: number;
  readonly merged: number;
}

export interface Timeline extends FromNodes {
  readonly peer: string;
  /** The client, if a node has it now. */
  readonly session: SessionRow | undefined;
  /** Milliseconds since 1970: when following began. Earlier events are unknown. */
  readonly since: number;
  readonly now: number;
  /** The entries that have begun or changed since `after`, in the order in which they began. */
  readonly entries: readonly TimelineEntry[];
  /** Pass it as `after` next time. */
  readonly mark: number;
  /** How many entries were dropped because there were too many. */
  readonly dropped: number;
}

export const lanes = ["streams", "calls", "questions", "pushes", "tasks"] as const;
export type Lane = (typeof lanes)[number];

/** A bar of a timeline, or a point if it has no duration. */
export interface TimelineEntry {
  /** Unique on all nodes. A changed entry is sent again with the same id. */
  readonly id: string;
  readonly node: string;
  readonly lane: Lane;
  /** Such as `tools/call`, `elicitation/create`, `notifications/resources/updated`, `get`, `post`, `session`. */
  readonly kind: string;
  /** Such as the name of the tool, the URI of the resource or the id of the task. */
  readonly label: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Undefined while the entry is open. */
  readonly endedAt: number | undefined;
  /** Such as `ok`, `error`, `cancelled`; for a stream why it ended: `cut`, `slow`, `ended`, `moved`, `paused`. */
  readonly outcome: string | undefined;
  /** Points on the bar, such as progress and resumes. */
  readonly points: readonly { readonly at: number; readonly what: string }[];
  /** How many messages are behind it. */
  readonly messages: number;
  /** The event ids that a stream carried, or the event id of a push. */
  readonly detail: string | undefined;
  /** Equal for entries of several nodes about the same thing, such as a stream that is resumed on another node. */
  readonly link?: string | undefined;
}

export interface Messages extends FromNodes {
  readonly lines: readonly RecordedLine[];
  /** How many were dropped because there were too many, or they were too large. */
  readonly dropped: number;
}

/** Rows of an answer. Past it, the answer says how many there are. */
export const maxRows = 200;
