// The streams of one session in a cluster: this node writes what the session's log gives to the streams that it holds.
import type { Cluster } from "../../backplane/cluster.ts";
import type { LogEntry } from "../../backplane/engine.ts";
import { logRejection } from "../../diagnostics/rate-limited-log.ts";
import type { Principal } from "../../protocol/model.ts";
import { isGranted } from "../../protocol/scopes.ts";
import type { ChangeLog } from "../../push/changes.ts";
import type { Stream } from "../../push/listener.ts";
import type { SessionEntry } from "../../push/session-log.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { ServerPort } from "../../server/port.ts";
import type { RequestId } from "../../wire/message.ts";
import type { Tended } from "../edge/heartbeat.ts";
import type { HttpResponder } from "../edge/request.ts";
import type { EventStream, StreamOwner } from "./event-stream.ts";
import type { ClientStreams, StreamHost } from "./session-streams.ts";
import { SharedCursor } from "./shared-cursor.ts";
import { SharedGets } from "./shared-gets.ts";
import { readEventId } from "./shared-log.ts";
import { SharedReplies } from "./shared-replies.ts";
import { type EntryTaker, SharedSessionLog } from "./shared-session-log.ts";
import { isPostEvent, type StreamKind } from "./stream-log.ts";

/** What the streams of a session need of their endpoint in a cluster. */
export interface ClusterHost extends StreamHost {
  readonly server: ServerPort;
  readonly cluster: Cluster;
  readonly changes: ChangeLog | undefined;
  /** Lets work finish in the background, and logs its failure. */
  soon(work: Promise<unknown>): void;
}

export class SharedStreams implements ClientStreams, Stream, StreamOwner<SharedCursor>, EntryTaker, Tended {
  place: number | undefined;
  /** What is pushed while no client is connected here is in the logs. */
  readonly recovers = true;
  readonly #host: ClusterHost;
  readonly #connection: Connection;
  readonly #log: SharedSessionLog;
  readonly #gets: SharedGets;
  readonly #replies: SharedReplies;

  constructor(host: StreamHost & { readonly server: ServerPort }, cluster: Cluster, connection: Connection) {
    const { logger, changes } = host.server;
    const soon = (work: Promise<unknown>): void => logRejection(logger, "Writing to a session's log", work);
    this.#host = { ...host, server: host.server, cluster, changes, soon };
    this.#connection = connection;
    const { keepMs } = host.settings.limits;
    this.#log = new SharedSessionLog({ cluster, logger, session: connection.session ?? "", keepMs }, this);
    this.#gets = new SharedGets(this.#host, connection, this.#log, this);
    this.#replies = new SharedReplies(this.#host, connection, this.#log, this);
  }
}
