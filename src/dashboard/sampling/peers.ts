// Names clients without their secrets: a digest in place of a session id, a shortened subject in place of a principal.
import { textWithoutSecrets } from "../../client/redaction/messages.ts";
import { copyOf } from "../../base/errors.ts";
import type { Implementation, Principal } from "../../protocol/model.ts";

/** The facts about a client in an event, a connection or a listener. */
export interface KnownClient {
  readonly transport: string;
  readonly session?: string | undefined;
  readonly principal?: Principal | undefined;
  readonly caller?: string | undefined;
}

const maxWhoLength = 24;
const maxClientLength = 60;

/**
 * The name of a client in rows, questions and links, the same on every node. A legacy client is named by its session; a modern one,
 * which has none, by its caller and its name.
 */
export function peerOf(
  { session, caller = "" }: Pick<KnownClient, "session" | "caller">,
  clientName: string | undefined,
): string {
  return digest(session ?? `${caller} ${cut(clientName ?? "", maxClientLength)}`);
}

/** The subject of the client's token, or its address if it has no principal; shortened. */
export function whoOf({ transport, principal, caller }: KnownClient): string | undefined {
  if (principal !== undefined) return cut(principal.subject, maxWhoLength);
  return withAddresses.has(transport) && caller ? cut(caller, maxWhoLength) : undefined;
}

/** The transports whose callers are addresses. Elsewhere the caller may be the id of a session, which is a secret. */
const withAddresses: ReadonlySet<string> = new Set(["http", "sse"]);

/** The name and version that a client gives itself, as one text. */
export function clientTextOf(info: Implementation | undefined): string | undefined {
  // A client may send anything here.
  const { name, version } = (info ?? {}) as { readonly name?: unknown; readonly version?: unknown };
  if (typeof name !== "string") return undefined;
  return cut(typeof version === "string" && version !== "" ? `${name} ${version}` : name, maxClientLength);
}

/** Cuts a text that a client chose. */
export function cut(text: string, length: number): string {
  // Copied, because a slice would keep the whole text in memory.
  return text.length <= length ? text : `${copyOf(text.slice(0, length - 1))}…`;
}

/** Cuts the name or URI of a subject, or a reason that may contain one, after removing the secrets in its query. */
export function cutSubject(text: string, length: number): string {
  // A much longer text is cut anyway.
  return cut(textWithoutSecrets(text.slice(0, 10 * length)), length);
}

/** The name and version of a client, cut: it may send megabytes about itself with every request. */
export function keptClientOf({ name, version }: Implementation): Implementation {
  return { name: cut(name, maxClientLength), version: cut(version, maxClientLength) };
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
