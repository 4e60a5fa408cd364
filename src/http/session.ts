// One legacy session over HTTP: its connection, its streams, and its record for other nodes.
import type { JoinedCluster } from "../backplane/joined-cluster.ts";
import { PartKind } from "../backplane/parts.ts";
import type { Principal } from "../protocol/model.ts";
import { identityOf } from "../protocol/principal.ts";
import { Connection } from "../server/context/connection.ts";
import type { Detach } from "../server/calls/attach.ts";
import type { SessionEnd } from "../diagnostics/events.ts";
import type { ServerPort } from "../server/calls/port.ts";
import { mintSessionId } from "../session/sessions.ts";
import type { SharedSession } from "../session/shared-session.ts";
import type { RequestId } from "../wire/message.ts";
import type { SavedState } from "./saved-state.ts";
import { type ClientStreams, SessionStreams, type StreamHost } from "./streams/session-streams.ts";
import type { SharedStreams } from "./streams/shared-streams.ts";

/** A call that has not been answered yet. */
interface UnansweredCall {
  /** Whether the client still waits for the response. */
  readonly isAwaited: boolean;
}

/** The streams and the state of a session that any node may serve. */
export const sharedSession: PartKind<{
  readonly SharedStreams: typeof SharedStreams;
  readonly SavedState: typeof SavedState;
}> = new PartKind("session");

export class HttpSession implements SharedSession {
  readonly connection: Connection;
  readonly streams: ClientStreams;
  /** Calls without a response; usually none. */
  #unanswered: Set<UnansweredCall> | undefined;
  readonly #host: StreamHost;
  readonly #detach: Detach;
  #saved: SavedState | undefined;

  /** `subscriptions`: those of a session that is revived. */
  constructor(host: StreamHost, connection: Connection, subscriptions?: readonly string[]) {
    this.connection = connection;
    this.#host = host;
    const { cluster, changes } = host.server;
    const { others } = cluster;
    this.streams =
      others && changes
        ? new (others.part(sharedSession).SharedStreams)(host, others, changes, connection)
        : new SessionStreams(host, connection);
    this.#detach = host.server.attach(connection, this.streams, {
      overflow: "gap",
      subscriptions: subscriptions ?? [],
      isRevived: subscriptions !== undefined,
    });
  }

  /** The connection of a new session. It keeps the identity of its principal; each request brings its own scopes. */
  static mint({ changes }: ServerPort, principal: Principal | undefined, caller: string): Connection {
    const session = mintSessionId();
    const connection = new Connection({
      transport: "http",
      session,
      principal: identityOf(principal),
      caller,
    });
    connection.changes = changes?.position;
    return connection;
  }

  get id(): string {
    return this.connection.session ?? "";
  }

  get principal(): Principal | undefined {
    return this.connection.principal;
  }

  get caller(): string {
    return this.connection.caller;
  }

  get busy(): boolean {
    return this.connection.inFlight.size > 0 || this.streams.isRead;
  }

  get connected(): boolean {
    if (this.streams.isRead) return true;
    for (const call of this.#unanswered ?? []) if (call.isAwaited) return true;
    return false;
  }

  /** Adds a call whose response takes time. */
  beginCall(call: UnansweredCall): void {
    (this.#unanswered ??= new Set()).add(call);
  }

  endCall(call: UnansweredCall): void {
    this.#unanswered?.delete(call);
    if (this.#unanswered?.size === 0) this.#unanswered = undefined;
  }

  /** Made when it is first read: only a session that nodes share has it. */
  get saved(): SavedState {
    const { server } = this.#host;
    return (this.#saved ??= new ((server.cluster.others as JoinedCluster).part(sharedSession).SavedState)(
      this.connection,
      server,
    ));
  }

  cancel(id: RequestId, reason: string): void {
    this.connection.inFlight.cancel(id, reason);
  }

  close(reason?: SessionEnd): void {
    void this.#detach(reason);
    this.connection.inFlight.cancelAll("The session has ended");
    this.streams.close();
    if (reason === "deleted") this.#host.logs.removeSession(this.id);
  }
}
