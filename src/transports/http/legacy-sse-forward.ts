// Forwards messages of HTTP+SSE clients that arrive at another node than the one with the stream. That node handles them, and
// decides the reply.
import type { Cluster } from "../../cluster/node/cluster.ts";
import type { PassOutcome } from "../../cluster/node/forwarding.ts";
import type { Principal } from "../../protocol/model.ts";
import { assertPrincipal, identityOf } from "../../protocol/principal.ts";
import { areScopes } from "../../server/push/session-entries.ts";
import type { JsonObject } from "../../base/wire/message.ts";

/** The statuses of a response to a message. Only 202 and 504 say that a call in it may have begun. */
const messageStatuses = [202, 404, 429, 503, 504] as const;

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

/** How the node of a stream handles forwarded messages. Both functions return undefined for a token of another endpoint. */
export interface MessageTaker {
  /** The status of a message before its text is sent: 202 if the text may follow. */
  check(token: string, principal: Principal | undefined): MessageStatus | undefined;
  take(message: ForwardedMessage): MessageStatus | undefined;
}

/** Longest token that another node is asked about; every token is shorter. */
const maxTokenLength = 128;

export class SseForwarding {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The other node with the stream of a token; undefined if it is this node, or an unknown one. */
  nodeOf(token: string): string | undefined {
    if (token.length > maxTokenLength) return undefined;
    const node = token.slice(0, Math.max(0, token.indexOf(".")));
    return node !== this.#cluster.node && this.#cluster.hears(node) ? node : undefined;
  }

  /** Passes a message to the node that has the stream, if that node has it. Rejects if the message was not passed on. */
  async forward(node: string, message: ForwardedMessage): Promise<MessageStatus> {
    const { token, caller, principal } = message;
    const key = { token, principal: identityOf(principal) };
    const body = { ...message };
    return statusOf(await this.#cluster.forwarding.pass({ caller, node, kind: "sse", key, body }));
  }

  /** Answers other nodes, until you call the returned function. */
  onMessage({ check, take }: MessageTaker): () => void {
    return this.#cluster.forwarding.onPassed("sse", {
      expects: ({ token, principal }) => {
        assertPrincipal(principal, "The principal of a message from another node");
        const status = check(String(token), principal);
        return status === 202 ? "yes" : status && { status };
      },
      take: (body) => {
        const status = take(readForwarded(body));
        return status && { status };
      },
    });
  }
}

function statusOf(outcome: PassOutcome): MessageStatus {
  if (outcome.state === "gone") return 404;
  if (outcome.state === "silent") return 503;
  const status = outcome.state === "answered" ? outcome.answer["status"] : undefined;
  return messageStatuses.find((known) => known === status) ?? 504;
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
