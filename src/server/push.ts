// `server.push`: sends notifications and requests to clients outside a call.
import type { Cluster } from "../cluster/node/cluster.ts";
import type { Diagnostics } from "./diagnostics/events.ts";
import { levelProblem } from "./diagnostics/warnings.ts";
import { askFailed } from "../base/errors.ts";
import { filledText, type Known, mismatch, plainObject, problemOf, text } from "../base/kinds.ts";
import type { Asks } from "./push/asks.ts";
import { refuseNames } from "../base/refused-names.ts";
import type { Hub } from "./push/hub.ts";
import { unfitForJson } from "../base/wire/json-fit.ts";
import type { JsonObject } from "../base/wire/message.ts";
import { topicOf } from "./push/topic.ts";
import { isLogLevel } from "../protocol/model.ts";
import { listChanged, logMessage, resourceUpdated } from "../protocol/notifications.ts";
import type { ElicitationIds } from "./asking/elicitation.ts";
import { waysToSend } from "./calls/ways-to-send.ts";

/** The recipient and the source of a log message outside a call. */
export interface LogOptions {
  /** Send to this session only. @default {all sessions that want messages of that level} */
  readonly session?: string | undefined;
  /** The part of the server that the message is about. */
  readonly logger?: string | undefined;
}

export const knownLogOptions: Known<LogOptions> = { session: filledText, logger: text };

/** The parts of the server that `Push` uses. */
interface PushParts {
  readonly hub: Hub;
  readonly asks: Asks;
  readonly elicitationIds: ElicitationIds;
  readonly diagnostics: Diagnostics;
  readonly cluster: Cluster;
  /** Whether an extension lets clients subscribe to the notification. */
  readonly isExtension: (notification: string) => boolean;
}

/** Throws if `method` or `params` is not that of a notification. */
function checkSent(usage: string, name: string, method: unknown, params: unknown): void {
  const fail = (problem: string): never => {
    throw new TypeError(`push.${usage}: ${problem}`);
  };
  if (typeof method !== "string" || !method.startsWith("notifications/"))
    fail(`${name} ${mismatch("a text that begins with notifications/", method)}`);
  const problem = params === undefined ? undefined : problemOf(plainObject, params);
  if (problem) fail(`params ${problem}`);
  const unfit = unfitForJson(params);
  if (unfit) fail(`params${unfit}, which JSON cannot hold`);
  const { level } = (params ?? {}) as { readonly level?: unknown };
  if (method === logMessage && level !== undefined && !isLogLevel(level)) fail(levelProblem(level));
}

/** Throws if `session` is not a session id. A modern client has none. */
function checkSession(usage: string, session: unknown): void {
  const problem = problemOf(filledText, session);
  if (problem === undefined) return;
  const remedy = session === undefined ? ": modern clients have no session" : "";
  throw new TypeError(`push.${usage}: session ${problem}${remedy}`);
}

/**
 * Sends notifications and requests outside a call: to every session, to one session, or to subscribers. With a `backplane`, they reach
 * the clients of all nodes; the numbers are those of this node.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * for (const session of await server.push.sessions()) {
 *   await server.push.toSession(session, "notifications/message", { level: "info", data: "Hello" });
 * }
 * ```
 */
export class Push {
  readonly #parts: PushParts;

  static {
    refuseNames(this.prototype, {
      subject: "server.push",
      methods: {
        "send emit notify": "broadcast(method, params) or toSession(session, method, params)",
      },
    });
  }

  constructor(parts: PushParts) {
    this.#parts = parts;
    const { cluster, hub } = parts;
    const { questions } = cluster;
    questions.answer("subscribed", ({ topic }) => typeof topic === "string" && hub.isListened(topic));
    questions.answer("elicited", ({ id }) => typeof id === "string" && this.#completeHere(id));
  }

  /**
   * Sends a notification to every legacy session, once each, and resolves with their number. A `notifications/message` goes
   * only to sessions that want log messages of its level. With a `backplane` it reaches the sessions of all nodes, and the number is
   * that of the sessions with an open stream on this node. If the engine cannot be reached, only those get it. Rejects for a
   * notification of the protocol that modern clients get too, such as a changed list: `publish` sends that.
   */
  async broadcast(method: string, params?: object): Promise<number> {
    checkSent("broadcast(method, params)", "method", method, params);
    const way = method === logMessage ? undefined : waysToSend.get(method);
    if (way !== undefined)
      throw new TypeError(`push.broadcast cannot send ${method} to modern clients: use ${way}`);
    return this.#sent(method, undefined, await this.#parts.hub.broadcast(method, params));
  }

  /**
   * Sends a notification to one legacy session. Resolves with false if it does not exist or does not want that log level. With a
   * `backplane` the session may be on any node: once the promise has resolved with true, the engine keeps the notification for the
   * session's next stream. Rejects with `BACKPLANE_UNAVAILABLE` if the engine or the node of the session cannot be reached.
   */
  async toSession(session: string, method: string, params?: object): Promise<boolean> {
    checkSession("toSession", session);
    checkSent("toSession(session, method, params)", "method", method, params);
    const reached = await this.#parts.hub.toSession(session, method, params);
    this.#sent(method, undefined, reached ? 1 : 0, session);
    return reached;
  }

  /**
   * Sends a request to the client of a legacy session and resolves with its result. Rejects if the session does not exist or
   * ends, if the client responds with an error, or if it does not respond in time. A request to a session over HTTP waits for its next
   * stream, on any node, until `timeoutMs` is over (60,000 by default).
   */
  async request(
    session: string,
    method: string,
    params?: object,
    options: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<JsonObject> {
    checkSession("request", session);
    const { hub } = this.#parts;
    const place = hub.reach(session) ?? (await hub.find(session));
    if (!place) {
      throw askFailed(method, `session ${session} has no open stream`);
    }
    return this.#parts.asks.ask({ ...place, method, params, timeoutMs: options.timeoutMs ?? 60_000 });
  }

  /** Checks that the client of a legacy session responds. */
  async ping(session: string, options?: { readonly timeoutMs?: number | undefined }): Promise<void> {
    await this.request(session, "ping", undefined, options);
  }

  /**
   * Notifies the client that opened a page under this id that its user is done there. Resolves with false if there is no such
   * client, or if it was notified before. Modern clients find out when they retry. You can call it on any node.
   */
  async elicitationComplete(elicitationId: string): Promise<boolean> {
    if (await this.#completeHere(elicitationId)) return true;
    return (await this.#parts.cluster.questions.askAll("elicited", { id: elicitationId })) === "yes";
  }

  async #completeHere(elicitationId: string): Promise<boolean> {
    const session = this.#parts.elicitationIds.take(elicitationId);
    if (session === undefined) return false;
    return this.toSession(session, "notifications/elicitation/complete", { elicitationId });
  }

  /** Resolves with the number of questions of this node that clients have not answered yet. */
  async pendingAsks(): Promise<number> {
    return this.#parts.asks.size;
  }

  /**
   * Notifies subscribers: modern clients that listen for it, legacy clients that subscribed. Resolves with their number. With a
   * `backplane` it reaches the subscribers of all nodes, and the number is that of this node. To announce that a list has changed on
   * all nodes, publish its notification, as in `publish("notifications/tools/list_changed")`. Rejects for a notification that no
   * client can subscribe to.
   */
  async publish(notification: string, key?: string, params?: object): Promise<number> {
    const usage = "publish(notification, key, params)";
    checkSent(usage, "notification", notification, params);
    const problem = key === undefined ? undefined : problemOf(text, key);
    if (problem) throw new TypeError(`push.${usage}: key ${problem}; params come third`);
    this.#assertSubscribable(notification, key);
    return this.#sent(notification, key, await this.#parts.hub.publish(notification, key, params));
  }

  #assertSubscribable(notification: string, key: string | undefined): void {
    const isList = Object.values<string>(listChanged).includes(notification);
    const isUpdate = notification === resourceUpdated && key !== undefined;
    if (isList || isUpdate || this.#parts.isExtension(notification)) return;
    const way = waysToSend.get(notification) ?? "an extension with listens, or server.push.broadcast()";
    const reason = notification === resourceUpdated ? "without a URI" : "to which no client can subscribe";
    throw new TypeError(`push.publish cannot send ${notification} ${reason}: use ${way}`);
  }

  /** Resolves with whether any client subscribes to the resource, on any node. A node that does not answer within 1 s counts as yes. */
  async isSubscribed(uri: string): Promise<boolean> {
    const topic = topicOf(resourceUpdated, uri);
    if (await this.#parts.hub.isListened(topic)) return true;
    const answer = await this.#parts.cluster.questions.askAll("subscribed", { topic }).catch(() => "silence");
    return answer !== "no";
  }

  /** Resolves with the ids of the legacy sessions that can be reached now on this node. */
  sessions(): Promise<string[]> {
    return this.#parts.hub.sessions();
  }

  /** Resolves with the number of streams of this node that receive notifications now: sessions and listen requests. */
  count(): Promise<number> {
    return this.#parts.hub.count();
  }

  #sent(notification: string, key: string | undefined, delivered: number, session?: string): number {
    this.#parts.diagnostics.observe?.({ type: "push", notification, key, session, delivered });
    return delivered;
  }
}
