// What an author may push: `server.push`.
import { type Hub, topicOf } from "../push/hub.ts";
import { resourceUpdated } from "../protocol/notifications.ts";
import type { ServerOptions } from "./options.ts";

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
  readonly #hub: Hub;
  readonly #observe: ServerOptions["observe"];

  constructor(hub: Hub, observe: ServerOptions["observe"]) {
    this.#hub = hub;
    this.#observe = observe;
  }

  /** Sends a notification to every legacy session, once each. Answers how many it reached. */
  async broadcast(method: string, params?: object): Promise<number> {
    return this.#sent(method, undefined, await this.#hub.broadcast(method, params));
  }

  /** Sends a notification to one legacy session. False when there is no such session. */
  async toSession(session: string, method: string, params?: object): Promise<boolean> {
    const reached = await this.#hub.toSession(session, method, params);
    this.#sent(method, session, reached ? 1 : 0);
    return reached;
  }

  /** Tells those who asked: a modern client in its listen filter, a legacy one by subscribing. Answers how many. */
  async publish(notification: string, key?: string, params?: object): Promise<number> {
    return this.#sent(notification, key, await this.#hub.publish(notification, key, params));
  }

  /** Whether anyone wants to know when the resource changes. */
  isSubscribed(uri: string): Promise<boolean> {
    return this.#hub.isListened(topicOf(resourceUpdated, uri));
  }

  /** The legacy sessions that can be reached now. */
  sessions(): Promise<string[]> {
    return this.#hub.sessions();
  }

  /** How many streams take pushes now: sessions and listen requests. */
  count(): Promise<number> {
    return this.#hub.count();
  }

  #sent(notification: string, key: string | undefined, delivered: number): number {
    this.#observe?.({ type: "push", notification, key, delivered });
    return delivered;
  }
}
