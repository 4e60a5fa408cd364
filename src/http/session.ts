// One legacy session over HTTP: its connection, its streams and its record in the store.
import { findRevision } from "../protocol/revisions/index.ts";
import type { Principal } from "../protocol/model.ts";
import { identityOf } from "../protocol/principal.ts";
import { resourceUpdated } from "../protocol/notifications.ts";
import { topicOf } from "../push/topic.ts";
import { Connection } from "../server/context/connection.ts";
import type { Detach } from "../server/calls/attach.ts";
import type { SessionEnd } from "../server/calls/notifications.ts";
import type { ServerPort } from "../server/port.ts";
import { type LiveSession, mintSessionId } from "../session/sessions.ts";
import type { SessionRecord } from "../session/store.ts";
import { type ClientStreams, SessionStreams, type StreamHost } from "./streams/session-streams.ts";
import { SharedStreams } from "./streams/shared-streams.ts";

/** A call that has not been answered yet. */
interface UnansweredCall {
  /** Whether the client still waits for the response. */
  readonly isAwaited: boolean;
}

export class HttpSession implements LiveSession {
  readonly connection: Connection;
  readonly streams: ClientStreams;
  /** Calls without a response; usually none. */
  #unanswered: Set<UnansweredCall> | undefined;
  readonly #host: StreamHost;
  readonly #detach: Detach;
  /** The values that were saved last, as `changing` lists them. */
  #saved: readonly unknown[];

  constructor(host: StreamHost, connection: Connection, subscriptions: readonly string[] = []) {
    this.connection = connection;
    this.#host = host;
    const { cluster, changes } = host.server;
    this.streams =
      cluster && changes
        ? new SharedStreams(host, cluster, changes, connection)
        : new SessionStreams(host, connection);
    this.#detach = host.server.attach(connection, this.streams, { overflow: "gap", subscriptions });
    this.#saved = changing(connection);
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

  /** Restores a session that another process started, or that this process had dropped. */
  static revive(host: StreamHost, record: SessionRecord, caller: string): HttpSession {
    const { id, principal, revision, clientInfo, clientCapabilities, logLevel, initialized, changes } =
      record;
    const agreed = {
      revision: findRevision(revision),
      clientInfo,
      clientCapabilities,
      logLevel,
      initialized,
      changes,
    };
    const connection = Object.assign(
      new Connection({ transport: "http", session: id, principal, caller }),
      agreed,
    );
    const session = new HttpSession(host, connection, record.subscriptions);
    session.streams.revived();
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

  /** The URIs of the resources that the client subscribes to. */
  get subscriptions(): string[] {
    const prefix = topicOf(resourceUpdated, "");
    const topics = [...(this.connection.listener?.topics ?? [])].filter((topic) => topic.startsWith(prefix));
    return topics.map((topic) => topic.slice(prefix.length));
  }

  /** Whether the session has changed since it was last saved. */
  get hasChanged(): boolean {
    const { initialized, logLevel, listener } = this.connection;
    const saved = this.#saved;
    return initialized !== saved[0] || logLevel !== saved[1] || listener?.topicChanges !== saved[2];
  }

  record(): SessionRecord {
    this.#saved = changing(this.connection);
    const { principal, revision, clientInfo, clientCapabilities, logLevel, initialized, changes } =
      this.connection;
    return {
      id: this.id,
      principal,
      revision: revision?.date ?? "",
      clientInfo,
      clientCapabilities,
      logLevel,
      initialized,
      changes,
      subscriptions: this.subscriptions,
    };
  }

  close(reason?: SessionEnd): void {
    void this.#detach(reason);
    this.connection.inFlight.cancelAll("The session has ended");
    this.streams.close();
    if (reason === "deleted") this.#host.logs.removeSession(this.id);
  }
}

/** The values of a session that can change. */
function changing({ initialized, logLevel, listener }: Connection): readonly unknown[] {
  return [initialized, logLevel, listener?.topicChanges];
}
