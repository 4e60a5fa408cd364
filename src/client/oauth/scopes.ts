// Which scopes to ask for.
import type { Challenge } from "../settings/challenge.ts";

/** Everything in these lists once, in order. */
function union(...lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

/** What decides about scopes. */
export interface ScopeFacts {
  readonly challenge: Challenge;
  /** The scopes of the resource's metadata. */
  readonly ofResource: readonly string[] | undefined;
  /** The scopes of the authorization server's metadata. */
  readonly ofServer: readonly string[] | undefined;
  /** The scopes of earlier requests to the same authorization server. */
  readonly before: readonly string[] | undefined;
  /** What the user of this client wants besides. */
  readonly wanted: readonly string[] | undefined;
  readonly byPerson: boolean;
}

/**
 * The challenge decides, else the metadata of the resource; scopes of earlier requests stay, or the person would lose them. If no scope
 * is named, `offline_access` is not added: alone, it would take the place of the scopes that the server grants by default.
 */
export function scopesToAsk({
  challenge,
  ofResource,
  ofServer,
  before,
  wanted,
  byPerson,
}: ScopeFacts): string[] {
  const named = union(before, challenge.scope ?? ofResource, wanted);
  const isOffline = byPerson && named.length > 0 && ofServer?.includes("offline_access") === true;
  return isOffline ? union(named, ["offline_access"]) : named;
}
