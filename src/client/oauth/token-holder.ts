// Holds the tokens of a client for one MCP server, and has them obtained or refreshed once, however many requests wait.
import { longestTimerMs } from "../../base/async/timers.ts";
import { Secrets } from "../redaction/secrets.ts";
import type { AuthRefusal, AuthReply, HeaderFields } from "../settings/auth.ts";
import { type Challenge, parseChallenge } from "../settings/challenge.ts";
import { shownUrl } from "../settings/shown.ts";
import { OAuthError, shown } from "./settings/errors.ts";
import { authorizationOf, type Tokens } from "./stored.ts";
import { type OAuthSettings, type Obtained, TokenSource } from "./token-source.ts";

const none: HeaderFields = {};

/** The least time between two refreshes, failed or not; meanwhile the server decides what the tokens are still good for. */
const refreshAgainMs = 5_000;

export class TokenHolder {
  readonly #server: string;
  readonly #source: TokenSource;
  /** The current tokens, once the store was read. */
  #held: Obtained | "none" | undefined;
  #loading: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #refreshAgainAt = 0;
  #obtaining: Promise<void> | undefined;
  /** The requests that wait for new tokens, and the address that a person has to visit for them. */
  readonly #waiting = new Set<AuthRefusal>();
  /** Aborted when no request waits any longer. */
  #givenUp = new AbortController();
  /** Keeps the process alive while requests wait. */
  #alive: ReturnType<typeof setInterval> | undefined;
  #address: string | undefined;

  constructor(settings: OAuthSettings, server: string) {
    this.#server = server;
    this.#source = new TokenSource(settings, server);
  }

  get #current(): Obtained | undefined {
    return this.#held === "none" ? undefined : this.#held;
  }

  /** The headers of a request. Tokens that are about to expire are refreshed first. */
  headers(url: string, method: string): HeaderFields | Promise<HeaderFields> {
    const held = this.#held;
    if (held === undefined) return this.#load().then(() => this.headers(url, method));
    if (held === "none") return none;
    const { tokens, proofs } = held;
    if (isDue(tokens) && performance.now() >= this.#refreshAgainAt)
      return this.#refresh(held).then(() => this.headers(url, method));
    const authorization = authorizationOf(tokens);
    if (proofs === undefined) return { authorization };
    return proofs.header(url, method, tokens.accessToken).then((dpop) => ({ authorization, dpop }));
  }

  /** Obtains what the server asks for. Resolves with whether the request is worth another try. */
  async refused(refusal: AuthRefusal): Promise<boolean> {
    const challenge = parseChallenge(refusal.challenge);
    const held = this.#current;
    if (challenge.error === "use_dpop_nonce") return held?.proofs !== undefined;
    // Another request was refused before, and new tokens have arrived meanwhile.
    if (held && refusal.refused !== authorizationOf(held.tokens)) return true;
    const isScopeMissing = challenge.error === "insufficient_scope" && challenge.scope !== undefined;
    if (refusal.status === 403 && !isScopeMissing) return false;
    const isNewGrant = (await this.#nextStep(refusal, challenge)) === "grant";
    this.#wait(refusal);
    if (this.#obtaining && this.#givenUp.signal.aborted) {
      // The requests that began it have given up, but it may still succeed.
      await this.#obtaining.catch(() => {});
      return this.refused(refusal);
    }
    await (this.#obtaining ??= this.#obtain(refusal, challenge, isNewGrant));
    return true;
  }

  /** Notes that the server accepts the tokens, and the nonce that it wants in the next proof. */
  replied({ status, url, header }: AuthReply): void {
    const held = this.#current;
    if (held === undefined) return;
    if (status !== 401 && held.ifRefused !== "refresh") this.#held = { ...held, ifRefused: "refresh" };
    const nonce = held.proofs && header("dpop-nonce");
    if (nonce !== undefined) held.proofs?.nonce(url, nonce);
  }

  /** Forgets the tokens, here and in the store. */
  async forget(): Promise<void> {
    if (this.#held === undefined) await this.#load();
    this.#held = "none";
    await this.#source.forget();
  }

  #load(): Promise<void> {
    const load = async (): Promise<void> => {
      this.#held = (await this.#source.returned()) ?? (await this.#source.stored()) ?? "none";
    };
    return (this.#loading ??= load().finally(() => (this.#loading = undefined)));
  }

  #refresh(held: Obtained): Promise<void> {
    const refresh = async (): Promise<void> => {
      const withoutRefresh = { ...held, tokens: { ...held.tokens, refreshToken: undefined } };
      const refreshed = this.#source.refresh(held.tokens);
      await refreshed.then(
        (obtained) => this.#hold(obtained ?? withoutRefresh, held),
        () => {},
      );
      this.#refreshAgainAt = performance.now() + refreshAgainMs;
    };
    return (this.#refreshing ??= refresh().finally(() => (this.#refreshing = undefined)));
  }

  /** Uses new tokens, unless the person has signed out meanwhile. */
  #hold(obtained: Obtained, before: Obtained | "none" | undefined): void {
    if (this.#held !== "none" || before === "none") this.#held = obtained;
  }

  async #obtain(
    { refused, revision }: AuthRefusal,
    challenge: Challenge,
    isNewGrant: boolean,
  ): Promise<void> {
    const { signal } = (this.#givenUp = new AbortController());
    const before = this.#held;
    const waiting = { signal, prompt: (address: string) => this.#prompt(address) };
    try {
      const need = { challenge, refused, isNewGrant, revision, waiting };
      this.#hold(await this.#source.obtain(need), before);
    } finally {
      this.#obtaining = this.#address = undefined;
      this.#waiting.clear();
      clearInterval(this.#alive);
    }
  }

  #wait(refusal: AuthRefusal): void {
    refusal.signal.throwIfAborted();
    this.#waiting.add(refusal);
    clearInterval(this.#alive);
    this.#alive = setInterval(() => {}, longestTimerMs);
    if (this.#address !== undefined) refusal.prompt(this.#address);
    refusal.signal.addEventListener("abort", () => {
      this.#waiting.delete(refusal);
      if (this.#waiting.size > 0) return;
      this.#givenUp.abort();
      clearInterval(this.#alive);
    });
  }

  #prompt(address: string): void {
    this.#address = address;
    for (const refusal of this.#waiting) refusal.prompt(address);
  }

  /** Stops loops: throws if the server refuses what it was just given, because another sign-in would end the same way. */
  async #nextStep({ status }: AuthRefusal, challenge: Challenge): Promise<"refresh" | "grant"> {
    const held = this.#current;
    if (held === undefined) return "refresh";
    const { tokens, ifRefused } = held;
    if (status === 401 && ifRefused !== "nothing") return ifRefused;
    const server = shownUrl(this.#server);
    if (status === 401) {
      // A later request may try again, because the server may have been repaired by then.
      this.#held = { ...held, ifRefused: "refresh" };
      this.#source.forgetMetadata();
      const remedy = tokens.dpopKey
        ? "supports DPoP (or drop the option dpop), and accepts this issuer and this audience"
        : "accepts this issuer and this audience";
      throw new OAuthError(
        "refused",
        `${server} refuses the token that ${shown(tokens.issuer)} has just issued for ${shownUrl(tokens.resource)}${await said(tokens, challenge)}: see that the server ${remedy}`,
      );
    }
    if (challenge.scope?.some((scope) => !tokens.scopes.includes(scope))) return "grant";
    throw new OAuthError(
      "refused",
      `${server} asks for the scope ${shown(challenge.scope?.join(" "))}, which was asked for already${await said(tokens, challenge)}: see that ${shown(tokens.issuer)} grants it to this user`,
    );
  }
}

function isDue({ refreshToken, renewAt }: Tokens): boolean {
  return refreshToken !== undefined && renewAt !== undefined && Date.now() >= renewAt;
}

/** What the server says about a refusal, without the token that it may repeat. */
async function said(tokens: Tokens, { errorDescription }: Challenge): Promise<string> {
  const secrets = new Secrets();
  secrets.add("token", tokens.accessToken);
  return errorDescription === undefined ? "" : ` (${shown(await secrets.clean(errorDescription))})`;
}
