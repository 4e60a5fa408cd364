// Which scopes to ask for.
import type { Challenge } from "./discovery/challenge.ts";

/** Everything in these lists once, in order. */
function union(...lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

/** What decides about scopes. */
export interface Asking {
  readonly challenge: Challenge;
  /** The scopes of the resource's metadata. */
  readonly ofResource: readonly string[] | undefined;
  /** The scopes of the authorization server's metadata. */
  readonly ofServer: readonly string[] | undefined;
  /** What was asked for before, at the same authorization server. */
  readonly before: readonly string[] | undefined;
  /** What the user of this client wants besides. */
  readonly wanted: readonly string[] | undefined;
  readonly byPerson: boolean;
}

/** The challenge decides, else the metadata of the resource; what was asked for before stays, or the person would lose it. */
export function scopesToAsk({ challenge, ofResource, ofServer, before, wanted, byPerson }: Asking): string[] {
  const offline = byPerson && ofServer?.includes("offline_access") ? ["offline_access"] : [];
  return union(before, challenge.scope ?? ofResource, wanted, offline);
}
