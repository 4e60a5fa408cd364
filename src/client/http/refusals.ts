// Handles refusals by the server: asks for other credentials, or explains what is missing.
import { untilAborted } from "../../base/async/promises.ts";
import type { CallBudget } from "../channel/channel.ts";
import type { AuthRefusal, ClientAuth, HeaderFields } from "../settings/auth.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { clip } from "../../base/errors.ts";
import { type Challenge, parseChallenge } from "../settings/challenge.ts";
import { AuthRequired, HttpFailure } from "../settings/errors.ts";
import { printable, shownUrl } from "../settings/shown.ts";
import { type HttpReply, pageBeyond } from "./send.ts";
import { failureOf, reading } from "./failure.ts";

/** The request that was refused. */
export interface Refused {
  readonly url: string;
  readonly headers: HeaderFields;
  readonly signal: AbortSignal;
  /** How often this request was refused before. */
  readonly times: number;
  /** How often its call asked for other credentials, over all its requests, and why it got none. */
  readonly budget: Pick<CallBudget, "signIns" | "denial">;
  /** Whether other credentials cannot help: the request had the same ones as before, or the caller's own. */
  readonly isFinal: boolean;
}

/**
 * Called when requests wait for credentials, perhaps until a person has visited `url`; and with false when none waits any longer.
 */
export type OnAuthorizing = (isWaiting: boolean, url?: string) => void;

const maxRefusals = 3;

/** What a page lacks if the server does not expose a response header to it. */
const lacks = {
  "Mcp-Session-Id": "the session",
  "WWW-Authenticate": "what to sign in to",
  "DPoP-Nonce": "the nonce of a proof",
};

/** The refusals of one client. */
export class Refusals {
  readonly #auth: ClientAuth | undefined;
  readonly #server: string;
  readonly #secrets: Secrets;
  readonly #onAuthorizing: OnAuthorizing | undefined;
  /** How many requests wait for credentials. */
  #waiting = 0;
  /** The address that a person must visit before these requests continue. */
  #prompted: string | undefined;

  constructor(
    auth: ClientAuth | undefined,
    server: string,
    secrets: Secrets,
    onAuthorizing: OnAuthorizing | undefined,
  ) {
    this.#auth = auth;
    this.#server = server;
    this.#secrets = secrets;
    this.#onAuthorizing = onAuthorizing;
  }

  /**
   * Resolves if the request may be sent again. Otherwise rejects with AuthRequired, or with HttpFailure after a 403 that is not
   * about tokens: it has no challenge for them, and the request carried none.
   */
  async handle(reply: HttpReply, refused: Refused): Promise<void> {
    const { url, headers, signal, budget } = refused;
    const status = reply.status as 401 | 403;
    const challenge = reply.header("www-authenticate");
    const cause = await failureOf(reply, url, this.#secrets);
    if (budget.denial !== undefined) throw budget.denial;
    if (this.#auth?.refused && !isHopeless(refused)) {
      // A retry with the server's nonce in the proof does not count as a sign-in.
      if (!/\buse_dpop_nonce\b/.test(challenge ?? "")) budget.signIns++;
      const asked: AuthRefusal = {
        status,
        url,
        server: this.#server,
        challenge,
        refused: headers["authorization"],
        revision: headers["mcp-protocol-version"],
        signal,
        header: (name) => reply.header(name.toLowerCase()),
        prompt: (address) => this.#prompt(address),
      };
      const isObtained = await this.#obtain(asked).catch((error: unknown) => {
        if (!signal.aborted) budget.denial = error as Error;
        throw error;
      });
      if (isObtained) return;
    }
    const nonce = "dpop" in headers ? (["DPoP-Nonce"] as const) : [];
    const hint = exposureHint(reply, url, "WWW-Authenticate", ...nonce);
    const said = await this.#secrets.clean(challenge);
    const spoken = "body" in cause ? (await reading.get())(cause.body) : "";
    const { reason, scopes, scheme } = reasonOf(said, spoken);
    const source = this.#sentBy(headers);
    const isOther = status === 403 && scheme === undefined && !("authorization" in headers);
    const remedy = isOther && source === "nothing" ? "" : remedyOf(status, scopes, source);
    const message = [`${shownUrl(url)} answered ${status}`, reason, remedy].filter(Boolean).join(": ");
    const whole = hint ? `${message}; ${hint}` : message;
    if (isOther && "body" in cause) throw new HttpFailure(cause, whole);
    throw new AuthRequired({ status, url, challenge: said }, whole, { cause });
  }

  /** The source of the credentials of a request. */
  #sentBy(headers: HeaderFields): Source {
    if (!("authorization" in headers)) return this.#auth?.refused ? "nothing yet" : "nothing";
    return this.#auth?.refused ? "auth" : "token";
  }

  /** Asks for other credentials, and waits for them until the call ends. */
  async #obtain(refusal: AuthRefusal): Promise<boolean | undefined> {
    this.#waiting++;
    this.#onAuthorizing?.(true, this.#prompted);
    try {
      return await untilAborted(Promise.resolve(this.#auth?.refused?.(refusal)), refusal.signal);
    } finally {
      if (--this.#waiting === 0) {
        this.#prompted = undefined;
        this.#onAuthorizing?.(false);
      }
    }
  }

  /** Shows the address to visit. All waiting requests continue after the visit, whichever was refused first. */
  #prompt(url: string): void {
    if (this.#waiting === 0) return;
    this.#prompted = url;
    this.#onAuthorizing?.(true, url);
  }
}

/**
 * The source of the credentials of a refused request: none, an `auth` object that has none yet, a token that the user passed, or
 * an `auth` object.
 */
type Source = "nothing" | "nothing yet" | "token" | "auth";

/** The server's reason, from the challenge or else the body; and the scopes that it names. */
function reasonOf(
  challenge: string | undefined,
  said: string,
): Pick<Challenge, "scheme"> & { readonly reason: string; readonly scopes: string } {
  const { scheme, error, errorDescription, scope = [] } = parseChallenge(challenge);
  const words = [error, errorDescription ?? said].filter(Boolean).join(": ");
  return { scheme, reason: clip(printable(words)), scopes: clip(printable(scope.join(" "))) };
}

function remedyOf(status: 401 | 403, scopes: string, source: Source): string {
  const needed = scopes && ` with the scopes ${scopes}`;
  if (source === "nothing yet" && status === 403) return "if it requires a token, let it answer 401";
  if (source === "nothing" || source === "nothing yet")
    return `pass a token${needed}, or oauth() of halyard/client/oauth, as the option auth`;
  const another =
    status === 401
      ? `one that is valid now and meant for this server${needed && `,${needed}`}`
      : `one${needed || " that permits this"}`;
  if (source === "token") return `the token was refused: pass ${another}`;
  return `the token that auth obtained was refused: it must obtain ${another}`;
}

function isHopeless({ isFinal, times, budget }: Refused): boolean {
  return isFinal || times >= maxRefusals || budget.signIns >= maxRefusals;
}

/** Advice for the server if the reply has these headers but the page cannot read them; undefined if that is not the problem. */
export function exposureHint(
  reply: HttpReply,
  url: string,
  ...wanted: (keyof typeof lacks)[]
): string | undefined {
  const page = pageBeyond(url);
  const hidden = wanted.filter((name) => reply.header(name.toLowerCase()) === undefined);
  if (page === undefined || hidden.length === 0) return undefined;
  const lacking = hidden.map((name) => lacks[name]).join(" and ");
  return `${page} cannot see ${lacking}: send Access-Control-Expose-Headers: ${hidden.join(", ")}`;
}
