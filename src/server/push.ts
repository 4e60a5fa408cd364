// What an author may push: `server.push`.
import { askFailed } from "../errors.ts";
import type { Known } from "../options.ts";
import type { Asks } from "../push/asks.ts";
import type { Hub } from "../push/hub.ts";
import type { JsonObject } from "../wire/message.ts";
import { topicOf } from "../push/topic.ts";
import { resourceUpdated } from "../protocol/notifications.ts";
import type { ElicitationIds } from "./asking/elicitation-ids.ts";
import type { ServerOptions } from "./options.ts";

/** Where a log message outside a call goes, and where it comes from. */
export interface LogOptions {
  /** Only to this session. @default {to all that want messages of that level} */
  readonly session?: string;
  /** The part of the server that it comes from. */
  readonly logger?: string;
}

export const knownLogOptions: Known<LogOptions> = { session: true, logger: true };

/** What pushing takes. */
interface PushParts {
  readonly hub: Hub;
  readonly asks: Asks;
  readonly elicitationIds: ElicitationIds;
  readonly observe: ServerOptions["observe"];
}

/**
 * Sends what nobody asked for right now: to every session, to one, or to those who listen.
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

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  /**
   * Sends a notification to every legacy session, once each. Answers how many it reached. A `notifications/message` goes to
   * those that want log messages of its level.
   */
  async broadcast(method: string, params?: object): Promise<number> {
    return this.#sent(method, undefined, await this.#parts.hub.broadcast(method, params));
  }

  /** The same to one legacy session. False when there is no such session, or it wants no log messages of that level. */
  async toSession(session: string, method: string, params?: object): Promise<boolean> {
    const reached = await this.#parts.hub.toSession(session, method, params);
    this.#sent(method, session, reached ? 1 : 0);
    return reached;
  }

  /**
   * Asks the client of a legacy session and waits for its answer. Rejects when there is no such session, or no stream of it
   * is open, when the client answers with an error, or when it does not answer in time.
   */
  async request(
    session: string,
    method: string,
    params?: object,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<JsonObject> {
    const place = this.#parts.hub.reach(session);
    if (place === undefined) {
      throw askFailed(method, `session ${session} has no stream open to be asked on`);
    }
    return this.#parts.asks.ask({ ...place, method, params, timeoutMs: options.timeoutMs ?? 60_000 });
  }

  /** Asks the client of a legacy session for a sign of life. */
  async ping(session: string, options?: { readonly timeoutMs?: number }): Promise<void> {
    await this.request(session, "ping", undefined, options);
  }

  /**
   * Tells the client that was sent to a page under this id, and no other, that its user is done there. False when there is
   * no such client, or it has been told: modern clients find out by calling again.
   */
  async elicitationComplete(elicitationId: string): Promise<boolean> {
    const session = this.#parts.elicitationIds.take(elicitationId);
    if (session === undefined) return false;
    return this.toSession(session, "notifications/elicitation/complete", { elicitationId });
  }

  /** How many questions to clients wait for their answer. */
  async pendingAsks(): Promise<number> {
    return this.#parts.asks.size;
  }

  /** Tells those who asked: a modern client in its listen filter, a legacy one by subscribing. Answers how many. */
  async publish(notification: string, key?: string, params?: object): Promise<number> {
    return this.#sent(notification, key, await this.#parts.hub.publish(notification, key, params));
  }

  /** Whether anyone wants to know when the resource changes. */
  isSubscribed(uri: string): Promise<boolean> {
    return this.#parts.hub.isListened(topicOf(resourceUpdated, uri));
  }

  /** The legacy sessions that can be reached now. */
  sessions(): Promise<string[]> {
    return this.#parts.hub.sessions();
  }

  /** How many streams take pushes now: sessions and listen requests. */
  count(): Promise<number> {
    return this.#parts.hub.count();
  }

  #sent(notification: string, key: string | undefined, delivered: number): number {
    this.#parts.observe?.({ type: "push", notification, key, delivered });
    return delivered;
  }
}
