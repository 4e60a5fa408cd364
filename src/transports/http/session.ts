// One legacy session over HTTP: its connection, its streams, and its record for other nodes.
import type { Principal } from "../../protocol/model.ts";
import { identityOf } from "../../protocol/principal.ts";
import { Connection, ownOptions } from "../../server/context/connection.ts";
import type { Detach } from "../../server/calls/attach.ts";
import type { SessionEnd } from "../../server/diagnostics/events.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import type { LiveSession } from "../../server/session/live-session.ts";
import type { RequestId } from "../../base/wire/message.ts";
import type { SessionRecord } from "../../server/session/record.ts";
import { randomId } from "../../base/wire/crypto.ts";
import { SavedState } from "./saved-state.ts";
import { SessionStreams } from "./streams/session-streams.ts";
import type { StreamHost } from "./streams/host.ts";

/** A call that has not been answered yet. */
interface UnansweredCall {
  /** Whether the client still waits for the response. */
  readonly isAwaited: boolean;
}

export class HttpSession implements LiveSession {
  readonly connection: Connection;
  readonly streams: SessionStreams;
  /** Calls without a response; usually none. */
  #unanswered: Set<UnansweredCall> | undefined;
  readonly #host: StreamHost;
  readonly #detach: Detach;
  #saved: SavedState | undefined;

  /** `subscriptions`: those of a session that is revived. */
  constructor(host: StreamHost, connection: Connection, subscriptions?: readonly string[]) {
    this.connection = connection;
    this.#host = host;
    this.streams = new SessionStreams(host, connection);
    this.#detach = host.server.attach(connection, this.streams, {
      overflow: "gap",
      subscriptions: subscriptions ?? [],
      isRevived: subscriptions !== undefined,
    });
  }

  /** The connection of a new session. It keeps the identity of its principal; each request brings its own scopes. */
  static mint({ changes }: ServerPort, principal: Principal | undefined, caller: string): Connection {
    // 256 random bits are unguessable.
    const session = randomId(32);
    const connection = new Connection({
      transport: "http",
      session,
      principal: identityOf(principal),
      caller,
    });
    connection.changes = changes.position;
    return connection;
  }

  /** Restores a session that another node started, or that this node had dropped. Undefined if this server does not support its revision. */
  static revive(host: StreamHost, record: SessionRecord, caller: string): HttpSession | undefined {
    const { id, principal, logLevel, initialized, changes } = record;
    const revision = host.server.revisions.find(record.revision);
    if (revision?.era !== "legacy") return undefined;
    const connection = Object.assign(
      new Connection({ transport: "http", session: id, principal, caller }, ownOptions),
      {
        revision,
        clientTexts: record,
        logLevel,
        initialized,
        changes,
      },
    );
    const session = new HttpSession(host, connection, record.subscriptions);
    session.saved.adopt(record);
    return session;
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

  /** Made when it is first read. */
  get saved(): SavedState {
    return (this.#saved ??= new SavedState(this.connection, this.#host.server));
  }

  cancel(id: RequestId, reason: string): void {
    this.connection.inFlight.cancel(id, reason);
  }

  close(reason?: SessionEnd): void {
    void this.#detach(reason);
    this.connection.inFlight.cancelAll("The session has ended");
    this.streams.close(reason !== undefined);
  }
}
