// Who is calling: compared, named, without what it was granted, and until when.
import type { Principal } from "./model.ts";

/** Whether both are the same caller; nobody in particular is only the same as nobody in particular. */
export function isSamePrincipal(one: Principal | undefined, other: Principal | undefined): boolean {
  return one?.issuer === other?.issuer && one?.subject === other?.subject;
}

/** Names a caller among all others. With the length no issuer and subject can be written so that they look like another's. */
export function principalKey({ issuer, subject }: Principal): string {
  return `${issuer.length} ${issuer}${subject}`;
}

/** Who it is and nothing else: what may be kept, logged and observed. */
export function identityOf(principal: Principal): Principal;
export function identityOf(principal: Principal | undefined): Principal | undefined;
export function identityOf(principal: Principal | undefined): Principal | undefined {
  return principal && { issuer: principal.issuer, subject: principal.subject };
}

/** Throws for what an author's code says of a caller and is no principal; `source` is that code. */
export function assertPrincipal(given: unknown, source: string): asserts given is Principal | undefined {
  if (given === undefined) return;
  const { issuer, subject, scopes } = Object(given) as Record<keyof Principal, unknown>;
  const isText = (value: unknown): boolean => typeof value === "string";
  const problem =
    !isText(issuer) || !isText(subject)
      ? "issuer and subject must be strings"
      : scopes !== undefined && !(Array.isArray(scopes) && scopes.every(isText))
        ? 'scopes must be a list of strings: split "a b" at its blanks'
        : undefined;
  if (problem === undefined) return;
  throw new TypeError(`${source} is no principal { issuer, subject, scopes? }, nor undefined: ${problem}`);
}

/** Whether a time on the clock on the wall, such as the end of a token, has come. */
export function isPast(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && Date.now() >= expiresAt;
}
