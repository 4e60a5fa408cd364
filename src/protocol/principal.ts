// Who is calling, compared.
import type { Principal } from "./model.ts";

/** Whether both are the same caller; nobody in particular is only the same as nobody in particular. */
export function isSamePrincipal(one: Principal | undefined, other: Principal | undefined): boolean {
  return one?.issuer === other?.issuer && one?.subject === other?.subject;
}
