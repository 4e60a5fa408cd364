// What the routes of the endpoint share: the server, its sessions, the logs of streams, and what is open.
import type { Principal } from "../protocol/model.ts";
import { isSamePrincipal } from "../protocol/principal.ts";
import { ReplayLogs, type StreamKind } from "../push/replay.ts";
import type { Connection } from "../server/connection.ts";
import type { Servable } from "../server/servable.ts";
import { Sessions } from "../session/sessions.ts";
import { CalmLog } from "./calm-log.ts";
import type { Resumable } from "./event-stream.ts";
import type { HttpRequest } from "./exchange.ts";
import { Heartbeat, type Tended } from "./heartbeat.ts";
import type { HttpSettings } from "./options.ts";
import { HttpSession } from "./session.ts";
import { Unsent } from "./unsent.ts";

export class HttpState {
  readonly server: Servable;
  readonly settings: HttpSettings;
  readonly sessions: Sessions<HttpSession>;
  readonly logs: ReplayLogs;
  readonly heartbeat: Heartbeat = new Heartbeat();
  readonly unsent: Unsent;
  /** For what anybody can make the server say. */
  readonly calmLog: CalmLog;
  /** Set when the server is being closed: what runs may finish, and nothing new begins. */
  closing = false;
  /** What came in since, in case it lets something finish that runs. */
  readonly #late = new WeakSet<HttpRequest>();
  /** The connections of open listen requests, and their ends. */
  readonly listens: Map<Connection, Promise<void>> = new Map();

  constructor(server: Servable, settings: HttpSettings) {
    const { sessionStore, limits } = settings;
    this.server = server;
    this.calmLog = new CalmLog(server.logger);
    this.settings = settings;
    this.sessions = new Sessions(sessionStore, limits, (record) => {
      this.heartbeat.add(this.#sweeper);
      return HttpSession.revive(server, record);
    });
    this.logs = new ReplayLogs(limits);
    this.unsent = new Unsent(this.heartbeat, limits.maxUnsentBytes, settings.stallMs);
  }

  /** Remembers that a request has come in since the server is being closed. */
  markLate(request: HttpRequest): void {
    this.#late.add(request);
  }

  /** Whether it is too late for a call in this request. One that was let in before the end, and read after it, is answered. */
  isLate(request: HttpRequest): boolean {
    return this.closing && this.#late.has(request);
  }

  /** Takes a new session in. False when there is no room. */
  async addSession(session: HttpSession): Promise<boolean> {
    const isIn = await this.sessions.add(session);
    if (isIn) this.heartbeat.add(this.#sweeper);
    else session.close();
    return isIn;
  }

  /** The headers as handlers see them: a token that let its bearer in here is for nobody else. */
  headersOf(request: HttpRequest): Readonly<Record<string, string | undefined>> {
    const headers = request.headers();
    if (this.settings.auth === undefined) return headers;
    const { authorization: _, ...others } = headers;
    return others;
  }

  /** What makes a stream of this session resumable. */
  resumable(kind: StreamKind, session: HttpSession, principal: Principal | undefined): Resumable {
    const log = this.logs.open(kind, session.id);
    log.scopes = principal?.scopes;
    return { logs: this.logs, log, retryMs: this.settings.retryMs };
  }

  /** Whether one more listen request may be open. */
  hasRoomToListen(principal: Principal | undefined): boolean {
    const { maxListens, maxListensPerPrincipal } = this.settings.limits;
    if (this.listens.size >= maxListens) return false;
    return principal === undefined || this.#listensOf(principal) < maxListensPerPrincipal;
  }

  /** Ends idle sessions, and forgets streams that nobody will come back for. */
  readonly #sweeper: Tended = {
    tend: (now) => {
      this.logs.sweep(now);
      void this.sessions.sweep(now);
      return this.sessions.size > 0 || this.logs.streams > 0;
    },
  };

  #listensOf(principal: Principal): number {
    let count = 0;
    for (const { principal: other } of this.listens.keys()) {
      if (isSamePrincipal(other, principal)) count++;
    }
    return count;
  }
}
