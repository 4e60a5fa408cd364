// What sessions that several nodes share need of each session and of their endpoint.
import type { JoinedCluster } from "../backplane/joined-cluster.ts";
import type { RateLimitedLog } from "../diagnostics/rate-limited-log.ts";
import type { RequestId } from "../wire/message.ts";
import type { SessionChange, SessionRecord, SessionState } from "./record.ts";
import type { ClosableSession } from "./sessions.ts";

/** A session that other nodes may change. */
export interface SharedSession extends ClosableSession {
  /** The state that the engine had last, as far as this node knows. */
  readonly saved: {
    readonly version: number;
    /** The caller that opened the session, for which it counts on all nodes. */
    readonly opener: string;
    /** Whether the client has changed something since `pending` was last called; cheap enough for each call. */
    readonly hasChanged: boolean;
    /** Whether `pending` has returned a change that is not settled yet. */
    readonly isPending: boolean;
    /** The record with all changes. */
    record(): SessionRecord;
    /** What the client has changed here since. */
    pending(): SessionChange | undefined;
    /** Notes that the engine has this change. */
    settle(change: SessionChange): void;
    /** Takes over what other nodes have changed, and keeps what is pending. */
    adopt(record: SessionState & Pick<SessionRecord, "version" | "opener">): void;
    /** The same for one change, which leads from the known version to the next. */
    follow(change: SessionChange): void;
    /** The subscriptions of a state that the session does not have here. */
    missing(state: SessionState): readonly string[];
  };
  /** Cancels a call. */
  cancel(id: RequestId, reason: string): void;
}

/** What shared sessions need of their endpoint. */
export interface SharedHost<Live> {
  readonly cluster: JoinedCluster;
  /** Resolves when this node has joined the cluster. */
  readonly joined: Promise<void>;
  readonly log: RateLimitedLog;
  /** Restores a session, which counts for `caller`; undefined if this server does not support its revision. */
  revive(record: SessionRecord, caller: string): Live | undefined;
  /** Whether the caller may have these subscriptions, too, on this node. */
  hasRoomFor(caller: string, subscriptions: readonly string[]): boolean;
  /** Calls `SharedSessions.sweep` from now on, while it has something to do. */
  wake(): void;
}
