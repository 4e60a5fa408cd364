// The parts of a session and of its endpoint that `Sessions` needs.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import type { RequestId } from "../../base/wire/message.ts";
import type { SessionChange, SessionRecord, SessionState } from "./record.ts";
import type { SessionEnd } from "../diagnostics/events.ts";
import type { Principal } from "../../protocol/model.ts";

/** A session that this process holds. Other nodes may change it. */
export interface LiveSession {
  readonly id: string;
  readonly principal: Principal | undefined;
  /** The key that limits count it for. */
  readonly caller: string;
  /** Whether a stream is open or a call is running. */
  readonly busy: boolean;
  /** Whether its client is connected: to a stream, or waiting for the response to a call. */
  readonly connected: boolean;
  /** The state that the engine had last, to the knowledge of this node. */
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
    /** The changes of the client here since the last save. */
    pending(): SessionChange | undefined;
    /** Notes that the engine has stored this change. */
    settle(change: SessionChange): void;
    /** Applies the changes of other nodes, and keeps the pending ones. */
    adopt(record: SessionState & Pick<SessionRecord, "version" | "opener">): void;
    /** Applies one change, which leads from the known version to the next. */
    follow(change: SessionChange): void;
    /** The subscriptions of a state that the session does not have here. */
    missing(state: SessionState): readonly string[];
  };
  /** Closes its streams here and cancels its calls. With a reason, the author's `onSessionClosed` is called. */
  close(reason?: SessionEnd): void;
  /** Cancels a call. */
  cancel(id: RequestId, reason: string): void;
}

/** The parts of an endpoint that its sessions need. */
export interface SessionHost<Live> {
  readonly cluster: Cluster;
  /** Resolves when this node has joined the cluster. */
  readonly joined: Promise<void>;
  readonly log: RateLimitedLog;
  /** Restores a session, which counts for `caller`; undefined if this server does not support its revision. */
  revive(record: SessionRecord, caller: string): Live | undefined;
  /** Whether the caller may have these subscriptions, too, on this node. */
  hasRoomFor(caller: string, subscriptions: readonly string[]): boolean;
  /** Calls `Sessions.sweep` from now on, while it has something to do. */
  wake(): void;
}
