// The state that the routes of an endpoint share: the server, sessions, stream logs, listen requests and timers.
import { ignoreRejection } from "../../base/async/promises.ts";
import type { Cluster } from "../../cluster/node/cluster.ts";
import { RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import { internalError } from "../../base/logging/logger.ts";
import { HalyardError } from "../../base/errors.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import { logKeptMs } from "../../server/session/limits.ts";
import { Sessions } from "../../server/session/sessions.ts";
import { Heartbeat, type Tended } from "./edge/heartbeat.ts";
import type { HttpResponder } from "./edge/request.ts";
import type { HttpSettings } from "./settings.ts";
import { Listens } from "./streams/listens.ts";
import { refuseWith, replyError } from "./edge/replies.ts";
import { HttpSession } from "./session.ts";
import type { SessionStreams } from "./streams/session-streams.ts";
import { Unsent } from "./edge/unsent.ts";

/** How many records of sessions are read at once, to see whether the sessions still exist. */
const maxChecks = 100;

export class HttpState implements Tended {
  place: number | undefined;
  readonly server: ServerPort;
  readonly settings: HttpSettings;
  readonly sessions: Sessions<HttpSession>;
  readonly heartbeat: Heartbeat;
  readonly unsent: Unsent;
  /** For messages that any client can cause. */
  readonly rateLimitedLog: RateLimitedLog;
  /** Whether the server is closing: running calls may finish, and new ones are refused. */
  closing = false;
  openStreams = 0;
  readonly listens: Listens;
  /** Resolves when this node has joined the cluster, if there is one. Work that needs the other nodes waits for it. */
  readonly joined: Promise<void>;
  readonly #stopHearing: readonly (() => void)[];
  /** The sessions whose records are still to be read, and how many are being read. */
  readonly #unchecked = new Map<string, Connection>();
  #checking = 0;

  constructor(server: ServerPort, settings: HttpSettings, ready: Promise<void>) {
    const { limits } = settings;
    this.server = server;
    this.rateLimitedLog = RateLimitedLog.of(server.logger);
    this.heartbeat = new Heartbeat(this.rateLimitedLog);
    this.settings = settings;
    this.listens = new Listens(limits, this.heartbeat);
    this.joined = ignoreRejection(ready.catch(refuseUnjoined));
    this.sessions = this.#openSessions();
    this.unsent = new Unsent(this.heartbeat, limits.maxUnsentBytes, settings.stallMs);
    server.keepLogs({ keepMs: logKeptMs(limits), maxBytes: limits.maxStreamBytes });
    const { cluster } = server;
    cluster.logBudget.allow({ bytes: limits.maxTotalBytes, logs: limits.maxStreams });
    this.#stopHearing = this.#hear(cluster);
  }

  /** Answers questions of other nodes about the calls of this one, and passes events of the cluster to every session. */
  #hear(cluster: Cluster): (() => void)[] {
    return [
      cluster.on("running", ({ session, stream }) => {
        const found = typeof session === "string" ? this.sessions.peek(session) : undefined;
        return found && { isRunning: typeof stream === "number" && found.streams.runs(stream) };
      }),
      cluster.onLeft((node) => this.#tellStreams((streams) => streams.nodeLeft(node))),
      cluster.onBack(() => this.#tellStreams((streams) => streams.engineBack())),
    ];
  }

  #tellStreams(tell: (streams: SessionStreams) => void): void {
    for (const { streams } of this.sessions.values()) tell(streams);
  }

  #openSessions(): Sessions<HttpSession> {
    const { cluster } = this.server;
    const { limits } = this.settings;
    const { joined, rateLimitedLog: log } = this;
    return new Sessions(
      {
        cluster,
        joined,
        log,
        revive: (record, caller) => HttpSession.revive(this, record, caller),
        hasRoomFor: (caller, subscriptions) => this.server.hasRoomFor(caller, subscriptions),
        wake: () => this.heartbeat.add(this),
      },
      limits,
    );
  }

  /** Adds a new session. Returns false if there is no room. */
  async addSession(session: HttpSession): Promise<boolean> {
    let isIn = false;
    try {
      isIn = await this.sessions.add(session);
    } finally {
      if (!isIn) session.close();
      if (this.sessions.needsSweeping) this.heartbeat.add(this);
    }
    return isIn;
  }

  /** Ends a session whose record the engine has lost with its log, so that its client initializes again. */
  checkSession(connection: Connection): void {
    this.#unchecked.set(connection.session ?? "", connection);
    this.#checkNext();
  }

  /** A few at a time: after an outage there may be thousands. */
  #checkNext(): void {
    for (const [session, { principal, caller }] of this.#unchecked) {
      if (this.#checking >= maxChecks) return;
      this.#unchecked.delete(session);
      this.#checking++;
      const isDone = (): void => {
        this.#checking--;
        this.#checkNext();
      };
      Promise.resolve(this.sessions.refresh(session, principal, caller)).then(isDone, isDone);
    }
  }

  /** Hands the sessions over, or ends them, and stops receiving events of the cluster. */
  async close(): Promise<void> {
    await this.sessions.close();
    this.heartbeat.stop();
    for (const stop of this.#stopHearing) stop();
  }

  /** Responds to a request that failed. Many may fail at once, so the log is rate-limited. */
  refuseFailed(responder: HttpResponder, error: unknown): void {
    if (error instanceof HalyardError && error.code === "BACKPLANE_UNAVAILABLE") {
      this.rateLimitedLog.error("A request needs the backplane, which fails", { error });
      const problem = "The server cannot serve this session now: try again later";
      return refuseWith(responder, 503, problem, { "retry-after": "5" });
    }
    replyError(responder, 500, internalError(this.rateLimitedLog, "A request could not be answered", error));
  }

  /** Ends idle sessions and drops expired stream logs. */
  tend(now: number): boolean {
    this.server.cluster.logBudget.sweep(now);
    this.sessions.sweep(now);
    return this.sessions.needsSweeping;
  }
}

function refuseUnjoined(cause: unknown): never {
  throw new HalyardError("BACKPLANE_UNAVAILABLE", "This node has not joined the cluster", { cause });
}
