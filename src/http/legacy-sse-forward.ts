// Messages of HTTP+SSE clients that arrive at another node than the one that has the stream: that node gets them, and says what to reply.
import type { Cluster } from "../backplane/cluster.ts";
import type { Principal } from "../protocol/model.ts";
import { assertPrincipal } from "../protocol/principal.ts";
import { areScopes } from "../push/session-log.ts";
import type { JsonObject } from "../wire/message.ts";

/** The statuses of a response to a message. */
const messageStatuses = [202, 404, 429, 503] as const;

export type MessageStatus = (typeof messageStatuses)[number];

/** A message that another node has received, authenticated and checked. */
export interface ForwardedMessage {
  /** Names the stream. */
  readonly token: string;
  readonly text: string;
  readonly caller: string;
  readonly principal: Principal | undefined;
  readonly checkedScopes: readonly string[] | undefined;
}

/** Milliseconds that the other node has to take a message. */
const forwardMs = 2000;

export class SseForwarding {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The other node that has the stream of a token; undefined if it is this one, or none that this node hears. */
  nodeOf(token: string): string | undefined {
    const node = token.slice(0, Math.max(0, token.indexOf(".")));
    return node !== this.#cluster.node && this.#cluster.hears(node) ? node : undefined;
  }

  /** Passes a message to the node that has the stream. */
  async forward(node: string, message: ForwardedMessage): Promise<MessageStatus> {
    const answer = await this.#cluster.bus.request(node, "sse", { ...message }, forwardMs);
    const status = messageStatuses.find((known) => known === answer?.["status"]);
    return status ?? (this.#cluster.hears(node) ? 503 : 404);
  }

  /** Calls `take` with each message that another node passes on, until you call the returned function. */
  onMessage(take: (message: ForwardedMessage) => { status: MessageStatus } | undefined): () => void {
    return this.#cluster.on("sse", (body) => take(readForwarded(body)));
  }
}

/** Reads a message that another node has passed on. Throws if it is invalid. */
function readForwarded(body: JsonObject): ForwardedMessage {
  const { token, text, caller, principal, checkedScopes } = body;
  assertPrincipal(principal, "The principal of a message from another node");
  const areTexts = typeof token === "string" && typeof text === "string" && typeof caller === "string";
  if (!areTexts || !areScopes(checkedScopes))
    throw new TypeError("Another node has passed on an invalid HTTP+SSE message");
  return { token, text, caller, principal, checkedScopes };
}
