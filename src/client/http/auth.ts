// The credentials of one client over HTTP, requested before each request and again after a refusal.
import { type Later, later } from "../../base/async/later.ts";
import { isThenable } from "../../base/async/promises.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { textRecord } from "../../base/kinds.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { type AuthOption, type ClientAuth, type HeaderFields, isToken } from "../settings/auth.ts";
import { checkSendable } from "./headers.ts";
import type { OnAuthorizing, Refusals, Refused } from "./refusals.ts";
import type { HttpReply } from "./send.ts";

/** Receives events about credentials. */
export interface AuthEvents {
  /**
   * The credentials differ from those of the previous request, so cached results for the old ones are not valid for the new ones.
   */
  onCredentials?: (() => void) | undefined;
  onAuthorizing?: OnAuthorizing | undefined;
}

/** The code that handles refusals, loaded on first use, because most clients meet none. */
export const refusals: Later<typeof import("./refusals.ts")> = later(
  () => import("./refusals.ts"),
  (module) => module,
);

export class Credentials {
  readonly #auth: ClientAuth | undefined;
  readonly #server: string;
  readonly #events: AuthEvents;
  readonly #secrets: Secrets;
  #last: string | undefined;
  #refusals: Refusals | undefined;

  /** `server`: the address that the user of the client dialled. Credentials are added to `secrets` before they are sent. */
  constructor(option: AuthOption | undefined, server: string, events: AuthEvents, secrets: Secrets) {
    this.#auth = option === undefined ? undefined : toClientAuth(option);
    this.#server = server;
    this.#events = events;
    this.#secrets = secrets;
  }

  /** The headers of the next request, or a promise of them; undefined if the client has no credentials. */
  headers(url: string, method: string): HeaderFields | Promise<HeaderFields> | undefined {
    if (this.#auth === undefined) return undefined;
    const given = this.#auth.headers({ url, method, server: this.#server });
    return isThenable(given) ? given.then((headers) => this.#use(headers)) : this.#use(given);
  }

  /** A text that identifies the credentials of the next request. */
  current(): string | Promise<string> {
    const given = this.headers(this.#server, "POST");
    return isThenable(given) ? given.then(ownerOf) : ownerOf(given ?? {});
  }

  /** Passes each reply to the user's `auth` object. */
  replied(reply: HttpReply, url: string): void {
    this.#auth?.replied?.({ status: reply.status, url, server: this.#server, header: headersOf(reply) });
  }

  /** Resolves if the refused request may be sent again. Otherwise rejects with AuthRequired. */
  async refused(reply: HttpReply, refused: Refused): Promise<void> {
    const { Refusals } = await refusals.get();
    this.#refusals ??= new Refusals(this.#auth, this.#server, this.#secrets, this.#events.onAuthorizing);
    await this.#refusals.handle(reply, refused);
  }

  #use(headers: HeaderFields): HeaderFields {
    checkFields(headers);
    const lower: Record<string, string> = {};
    for (const name of Object.keys(headers)) lower[name.toLowerCase()] = headers[name] as string;
    const owner = ownerOf(lower);
    const isOther = owner !== this.#last;
    if (isOther || "dpop" in lower) {
      checkSendable(lower, "auth");
      this.#secrets.addAll(Object.entries(lower));
    }
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

/** A text that identifies the credentials. It leaves out the DPoP proof, which differs on each request. */
function ownerOf(credentials: HeaderFields): string {
  return JSON.stringify("dpop" in credentials ? { ...credentials, dpop: "" } : credentials);
}

function toClientAuth(option: AuthOption): ClientAuth {
  if (typeof option === "object") return option;
  if (typeof option === "string") {
    const headers = bearer(option);
    return { headers: () => headers };
  }
  return {
    headers: () => {
      const token = option();
      return isThenable(token) ? token.then(bearer) : bearer(token);
    },
  };
}

function bearer(token: unknown): HeaderFields {
  if (isToken(token)) return { authorization: `Bearer ${token}` };
  throw invalid("auth", 'returned no token: return a text without "Bearer", or write auth: oauth()');
}

function checkFields(headers: unknown): void {
  if (textRecord.is(headers)) return;
  const type = typeof headers;
  const names = { string: "a text", object: "no plain object of names and texts" };
  const what = type === "string" || type === "object" ? names[type] : type;
  throw invalid("auth.headers()", `returned ${what}: return { Authorization: … }`);
}

function invalid(field: string, problem: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", { subject: "connect", field }, problem);
}
