// Names clients without their secrets: a digest in place of a session id, a shortened subject in place of a principal.
import { ConfigurationError, copyOf } from "../../base/errors.ts";
import { type Kind, matching, plainObject, problemOf } from "../../base/kinds.ts";
import type { Implementation, Principal } from "../../protocol/model.ts";

/** What is known of a client: the members of an event, a call or a connection. */
export interface KnownPeer {
  readonly transport: string;
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
  readonly caller?: string | undefined;
  /** The name and version that the client sends about itself. */
  readonly client?: Implementation | undefined;
}

/** A client, as rows name it. Everything in it may be shown to operators. */
export interface PeerView {
  /**
   * Names the client, the same on every node: a digest of its session id, which is a secret, or for a modern client of its caller and
   * its name.
   */
  readonly peer: string;
  /** The name and version that the client sends about itself. */
  readonly client: string | undefined;
  /** The subject of its token, or its address if it has no principal; shortened. */
  readonly who: string | undefined;
}

/** The name of a client: digits of {@link digest}, unlike an id of a session or what a client sends about itself. */
export const peerText: Kind<string> = matching(
  /^[0-9a-z]{1,11}$/,
  "the peer of a snapshot row or of describePeer(event)",
);

const knownPeer: Kind = {
  ...plainObject,
  mustBe: "an event, a call, or an object with transport, session, caller and client",
};

const maxWhoLength = 24;
const maxClientLength = 60;

/**
 * Names a client as the rows of a snapshot do, for example the client of an event.
 *
 * @example
 * ```ts
 * import { McpServer } from "halyard";
 * import { describePeer, windowOf } from "halyard/window";
 *
 * const server = new McpServer({ name: "demo", version: "1.0.0" });
 * windowOf(server).observe((event) => {
 *   if (event.type === "request") console.log(describePeer(event).peer, event.method, event.outcome);
 * });
 * ```
 */
export function describePeer(known: KnownPeer): PeerView {
  const problem = problemOf(knownPeer, known);
  if (problem !== undefined)
    throw new ConfigurationError("INVALID_OPTION", { subject: "describePeer", field: "known" }, problem);
  return { peer: peerIdOf(known, known.client?.name), client: clientText(known.client), who: whoOf(known) };
}

export function peerIdOf(
  { session, caller = "" }: Pick<KnownPeer, "session" | "caller">,
  clientName: unknown,
): string {
  const name = typeof clientName === "string" ? clientName : "";
  return digest(session ?? `${caller} ${cut(name, maxClientLength)}`);
}

export function whoOf({ transport, principal, caller }: KnownPeer): string | undefined {
  if (principal !== undefined) return cut(principal.subject, maxWhoLength);
  return withAddresses.has(transport) && caller ? cut(caller, maxWhoLength) : undefined;
}

/** The transports whose callers are addresses. Elsewhere the caller may be the id of a session, which is a secret. */
const withAddresses: ReadonlySet<string> = new Set(["http", "sse"]);

/** The name and version that a client gives itself, as one text. */
export function clientText(info: Implementation | undefined): string | undefined {
  // A client may send anything here.
  const { name, version } = (info ?? {}) as { readonly name?: unknown; readonly version?: unknown };
  if (typeof name !== "string") return undefined;
  return cut(typeof version === "string" && version !== "" ? `${name} ${version}` : name, maxClientLength);
}

/** The name and version of a client, cut: it may send megabytes about itself with every request. */
export function keptClient({ name, version }: Implementation): Implementation {
  return { name: cut(name, maxClientLength), version: cut(version, maxClientLength) };
}

/** Cuts a text that a client chose. */
function cut(text: string, length: number): string {
  // Copied, because a slice would keep the whole text in memory.
  return text.length <= length ? text : `${copyOf(text.slice(0, length - 1))}…`;
}

/** 53 bits of the text in base 36: two multiplicative hashes with different factors, mixed at the end. Not for secrets that are short. */
function digest(text: string): string {
  let one = 0x9e37_79b1;
  let two = 0x85eb_ca77;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x0100_0193);
    two = Math.imul(two ^ unit, 0x27d4_eb2f);
  }
  const low = mixed(one ^ (two >>> 15)) >>> 0;
  const high = mixed(two ^ (one >>> 13)) & 0x1f_ffff;
  return (high * 2 ** 32 + low).toString(36);
}

/** Spreads each bit over all others. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x7feb_352d);
  const rest = Math.imul(half ^ (half >>> 15), 0x846c_a68b);
  return rest ^ (rest >>> 16);
}
