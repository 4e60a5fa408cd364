// Credentials of one client over HTTP: asks for them before each request, and after a refusal.
import { isThenable, untilAborted } from "../../async/promises.ts";
import type { AuthOption, AuthRefusal, ClientAuth, HeaderFields } from "../settings/auth.ts";
import { AuthRequired } from "../settings/errors.ts";
import { failureOf } from "./failure.ts";
import { checkSendable } from "./headers.ts";
import type { HttpReply } from "./send.ts";

/** What a client hears of its credentials. */
export interface AuthEvents {
  /** The credentials differ from those of the request before: answers for the old ones are not for the new ones. */
  onCredentials?: (() => void) | undefined;
  /** Requests wait for credentials, perhaps for a person who must visit `url`; or no request does any longer. */
  onAuthorizing?: ((isWaiting: boolean, url?: string) => void) | undefined;
}

/** The request that was refused. */
interface Refused {
  readonly url: string;
  readonly headers: HeaderFields;
  readonly signal: AbortSignal;
  /** How often it was refused before. */
  readonly times: number;
  /** Whether others would not help: it has what it had the last time, or credentials of the caller's own. */
  readonly isFinal: boolean;
}

const maxRefusals = 3;

export class Credentials {
  readonly #auth: ClientAuth | undefined;
  readonly #server: string;
  readonly #events: AuthEvents;
  #last: string | undefined;
  /** How many requests wait for credentials. */
  #waiting = 0;
  /** The address that a person must visit before they go on. */
  #prompted: string | undefined;

  /** `server`: the address that the client's user dialled. */
  constructor(option: AuthOption | undefined, server: string, events: AuthEvents) {
    this.#auth = option === undefined ? undefined : toClientAuth(option);
    this.#server = server;
    this.#events = events;
  }

  /** The headers of the next request, or a promise of them; undefined if the client has no credentials. */
  headers(url: string, method: string): HeaderFields | Promise<HeaderFields> | undefined {
    const given = this.#auth?.headers({ url, method, server: this.#server });
    if (given === undefined) return undefined;
    return isThenable(given) ? given.then((headers) => this.#use(headers)) : this.#use(given);
  }

  /** Whose credentials the next request would have, as a text. */
  current(): string | Promise<string> {
    const given = this.headers(this.#server, "POST");
    return isThenable(given) ? given.then(ownerOf) : ownerOf(given ?? {});
  }

  /** A reply to a request to `url` has arrived. */
  replied(reply: HttpReply, url: string): void {
    this.#auth?.replied?.({ status: reply.status, url, server: this.#server, header: headersOf(reply) });
  }

  /** Resolves if a refused request is worth trying again; otherwise rejects with AuthRequired. */
  async refused(reply: HttpReply, refused: Refused): Promise<void> {
    const { url, headers, signal, times, isFinal } = refused;
    const status = reply.status as 401 | 403;
    const challenge = reply.header("www-authenticate");
    const cause = await failureOf(reply, url);
    const isWorthAsking = this.#auth?.refused && !isFinal && times < maxRefusals;
    const isObtained =
      isWorthAsking &&
      (await this.#obtain({
        status,
        url,
        server: this.#server,
        challenge,
        refused: headers["authorization"],
        revision: headers["mcp-protocol-version"],
        signal,
        header: headersOf(reply),
        prompt: (address) => this.#prompt(address),
      }));
    if (!isObtained) throw new AuthRequired({ status, url, challenge }, { cause });
  }

  /** Asks for other credentials, and waits for them as long as the request is wanted. */
  async #obtain(refusal: AuthRefusal): Promise<boolean | undefined> {
    this.#waiting++;
    this.#events.onAuthorizing?.(true, this.#prompted);
    try {
      return await untilAborted(Promise.resolve(this.#auth?.refused?.(refusal)), refusal.signal);
    } finally {
      if (--this.#waiting === 0) {
        this.#prompted = undefined;
        this.#events.onAuthorizing?.(false);
      }
    }
  }

  /** Whichever request was refused first, all that wait go on when somebody has visited the address. */
  #prompt(url: string): void {
    if (this.#waiting === 0) return;
    this.#prompted = url;
    this.#events.onAuthorizing?.(true, url);
  }

  #use(headers: HeaderFields): HeaderFields {
    const lower: Record<string, string> = {};
    for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name] as string;
    const owner = ownerOf(lower);
    const isOther = owner !== this.#last;
    if (isOther || "dpop" in lower) checkSendable(lower, "auth");
    if (isOther) {
      const isChange = this.#last !== undefined;
      this.#last = owner;
      if (isChange) this.#events.onCredentials?.();
    }
    return lower;
  }
}

function headersOf(reply: HttpReply): (name: string) => string | undefined {
  return (name) => reply.header(name.toLowerCase());
}

/** Whose credentials these are, as a text: without the proof of DPoP, which differs on each request. */
function ownerOf(credentials: HeaderFields): string {
  return JSON.stringify("dpop" in credentials ? { ...credentials, dpop: "" } : credentials);
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
