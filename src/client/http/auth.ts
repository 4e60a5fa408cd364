// Credentials of one client over HTTP: asks for them before each request, and after a refusal.
import { isThenable, untilAborted } from "../../async/promises.ts";
import type { AuthOption, ClientAuth, HeaderFields } from "../settings/auth.ts";
import { AuthRequired } from "../settings/errors.ts";
import { failureOf } from "./failure.ts";
import { checkSendable } from "./headers.ts";
import type { HttpReply } from "./send.ts";

/** What a client hears of its credentials. */
export interface AuthEvents {
  /** The credentials differ from those of the request before: answers for the old ones are not for the new ones. */
  onCredentials?: (() => void) | undefined;
  /** A request waits for credentials, or no longer does. */
  onAuthorizing?: ((isWaiting: boolean) => void) | undefined;
}

/** The request that was refused. */
interface Refused {
  readonly url: string;
  readonly headers: HeaderFields;
  readonly signal: AbortSignal;
  /** How often it was refused before. */
  readonly times: number;
  /** The credentials with which it was refused the last time. */
  readonly before: string | undefined;
  /** The caller gave it credentials of its own. */
  readonly hasOwn: boolean;
}

const maxRefusals = 3;

export class Credentials {
  readonly #auth: ClientAuth | undefined;
  readonly #events: AuthEvents;
  #last: string | undefined;
  /** How many requests wait for credentials. */
  #waiting = 0;

  constructor(option: AuthOption | undefined, events: AuthEvents) {
    this.#auth = option === undefined ? undefined : toClientAuth(option);
    this.#events = events;
  }

  /** The headers of the next request, or a promise of them; undefined if the client has no credentials. */
  headers(url: string, method: string): HeaderFields | Promise<HeaderFields> | undefined {
    const given = this.#auth?.headers({ url, method });
    if (given === undefined) return undefined;
    return isThenable(given) ? given.then((headers) => this.#use(headers)) : this.#use(given);
  }

  /** The credentials that the next request to `url` would have, as a text. */
  current(url: string): string | Promise<string> {
    const given = this.headers(url, "POST");
    return isThenable(given) ? given.then((headers) => JSON.stringify(headers)) : JSON.stringify(given ?? {});
  }

  /** Resolves if a refused request is worth trying again; otherwise rejects with AuthRequired. */
  async refused(reply: HttpReply, refused: Refused): Promise<void> {
    const { url, headers, signal, times } = refused;
    const status = reply.status as 401 | 403;
    const challenge = reply.header("www-authenticate");
    const cause = await failureOf(reply, url);
    const used = headers["authorization"];
    const isNew = times === 0 || (used !== refused.before && times < maxRefusals);
    if (this.#auth?.refused && isNew && !refused.hasOwn) {
      if (this.#waiting++ === 0) this.#events.onAuthorizing?.(true);
      try {
        const obtaining = this.#auth.refused({ status, url, challenge, refused: used, signal });
        if (await untilAborted(Promise.resolve(obtaining), signal)) return;
      } finally {
        if (--this.#waiting === 0) this.#events.onAuthorizing?.(false);
      }
    }
    throw new AuthRequired({ status, url, challenge }, { cause });
  }

  #use(headers: HeaderFields): HeaderFields {
    const lower: Record<string, string> = {};
    for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name] as string;
    const now = JSON.stringify(lower);
    if (now !== this.#last) {
      checkSendable(lower, "auth");
      const isChange = this.#last !== undefined;
      this.#last = now;
      if (isChange) this.#events.onCredentials?.();
    }
    return lower;
  }
}

function toClientAuth(option: AuthOption): ClientAuth {
  if (typeof option === "object") return option;
  if (typeof option === "string") {
    const headers = { authorization: `Bearer ${option}` };
    return { headers: () => headers };
  }
  const bearer = (token: string): HeaderFields => ({ authorization: `Bearer ${token}` });
  return {
    headers: () => {
      const token = option();
      return typeof token === "string" ? bearer(token) : token.then(bearer);
    },
  };
}
