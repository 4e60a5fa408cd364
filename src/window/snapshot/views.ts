// The rows of a snapshot, all of them plain data.
import type { LogLevel } from "../../protocol/model.ts";
import type { StreamEvent } from "../../server/diagnostics/events.ts";
import type { PeerView } from "../inside/peers.ts";

/** A client with a session or a listen request: a legacy session, or a modern client and its open listen requests. */
export interface SessionView extends PeerView {
  readonly era: "legacy" | "modern";
  readonly transport: string;
  /** The id of the legacy session, which is a secret: show `peer` instead. */
  readonly session: string | undefined;
  readonly revision: string | undefined;
  readonly idleMs: number;
  /** Calls that run now, on this node. */
  readonly running: number;
  readonly streams: number;
  readonly subscriptions: number;
  readonly logLevel: LogLevel | undefined;
  /** Bytes in its mailbox and in its connections that it has not read. */
  readonly queuedBytes: number;
}

/** One event stream to a client. */
export interface StreamView extends PeerView {
  /** Unique in this process, and the same in each snapshot and in what `follow` delivers. */
  readonly id: number;
  readonly kind: StreamEvent["kind"];
  /** `lost`: the client is away and may resume it. */
  readonly state: "open" | "lost";
  readonly session: string | undefined;
  readonly revision: string | undefined;
  /** Milliseconds in its state. */
  readonly ageMs: number;
  /** The last event id, shortened; undefined if the stream cannot be resumed. */
  readonly lastEventId: string | undefined;
  /** Bytes that wait in its connection. */
  readonly unsentBytes: number;
  /** Bytes that wait in the mailbox of its client. */
  readonly queuedBytes: number;
  /** Characters written so far. */
  readonly writtenBytes: number;
  readonly isBehind: boolean;
  readonly subscriptions: number;
}

/** A notification, or one about a key such as a URI, and who subscribes to it. */
export interface SubscriptionView {
  /** The notification, such as `notifications/resources/updated`. */
  readonly notification: string;
  /** The URI or another key, which may contain secrets: show it with `withoutSecrets`. */
  readonly key: string | undefined;
  readonly subscribers: number;
  /** At most five of them. */
  readonly peers: readonly PeerView[];
}

/** A running call. */
export interface CallView extends PeerView {
  /** Unique in this process, and the same in what `follow` delivers. */
  readonly id: number;
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined;
  readonly era: "legacy" | "modern";
  readonly revision: string;
  readonly transport: string;
  readonly session: string | undefined;
  /** Whether it is a listen request, which stays open. */
  readonly isStream: boolean;
  readonly runningMs: number;
}

/** A task whose handler runs in this process. */
export interface TaskView extends PeerView {
  readonly id: string;
  readonly tool: string;
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  /** What the task is doing, for people. */
  readonly statusMessage: string | undefined;
  /** Since its call began, in milliseconds. */
  readonly ageMs: number;
  /** How long the task is stored after its creation, in milliseconds. */
  readonly ttlMs: number;
}

/** A node of the cluster, as this one hears it. */
export interface NodeView {
  /** Empty for a process on its own. */
  readonly id: string;
  readonly isSelf: boolean;
  /** The version of its server. */
  readonly version: string;
  /** Milliseconds that its wall clock is ahead of this node's. */
  readonly aheadMs: number;
}

/** A registered tool. */
export interface ToolView {
  readonly name: string;
}

/** The rows of each kind. */
export interface Views {
  sessions: SessionView;
  streams: StreamView;
  subscriptions: SubscriptionView;
  calls: CallView;
  tasks: TaskView;
  tools: ToolView;
  nodes: NodeView;
}

/** Which rows a snapshot returns. */
export interface SnapshotOptions {
  /** Only rows that contain this text, in any case. */
  readonly search?: string | undefined;
  /** Only rows of this client. Subscriptions, tools and nodes have none. */
  readonly peer?: string | undefined;
  /** Only sessions of this era. Other kinds ignore it. */
  readonly era?: "legacy" | "modern" | undefined;
  /** Only these subscriptions, each with its notification, a space and its key. Other kinds ignore it. */
  readonly topics?: readonly string[] | undefined;
  /** How many rows to leave out, as `next` of the page before says. @default {0} */
  readonly offset?: number | undefined;
  /** The most rows of the page, up to 1000. @default {200} */
  readonly limit?: number | undefined;
}

/** One page of a snapshot. */
export interface SnapshotPage<Row> {
  readonly rows: readonly Row[];
  /** How many match. */
  readonly total: number;
  /** The `offset` of the next page; undefined after the last. */
  readonly next: number | undefined;
}

/** What is open on this node. */
export interface WindowCounts {
  readonly sessions: number;
  readonly streams: number;
  /** Open listen requests of modern clients, and resources that legacy sessions subscribe to. */
  readonly subscriptions: number;
  readonly calls: number;
  /** Questions to clients without an answer yet. */
  readonly questions: number;
  readonly tasks: number;
  /** Bytes that slow readers have not taken. */
  readonly unsentBytes: number;
  /** Bytes that are kept so that streams can be resumed. */
  readonly keptBytes: number;
}
