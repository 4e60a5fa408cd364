// The access of a client to one MCP server: holds its tokens, and sees that they are obtained or refreshed once, however many requests wait.
import { longestTimerMs } from "../../async/timers.ts";
import { Secrets } from "../redaction/secrets.ts";
import type { AuthRefusal, AuthReply, HeaderFields } from "../settings/auth.ts";
import { Acquisition, type OAuthSettings, type Obtained } from "./acquisition.ts";
import { type Challenge, parseChallenge } from "../settings/challenge.ts";
import type { Proofs } from "./grants/proofs.ts";
import { shown } from "./net/shown.ts";
import { shownUrl } from "../settings/shown.ts";
import { OAuthError } from "./settings/errors.ts";
import type { Tokens } from "./tokens/tokens.ts";

const none: HeaderFields = {};

/** The least time between two refreshes, failed or not; meanwhile the server decides what the tokens are still good for. */
const refreshAgainMs = 5_000;

export class Access {
  readonly #server: string;
  readonly #acquisition: Acquisition;
  /** The current tokens, once the store was read. */
  #held: Obtained | "none" | undefined;
  /** Whether the server has accepted them. */
  #isAccepted = false;
  #loading: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #refreshAgainAt = 0;
  #obtaining: Promise<void> | undefined;
  /** The requests that wait for new tokens, and the address that a person has to visit for them. */
  readonly #waiting = new Set<AuthRefusal>();
  #nobodyWaits = new AbortController();
  /** Keeps the process alive while there are some. */
  #alive: ReturnType<typeof setInterval> | undefined;
  #address: string | undefined;

  constructor(settings: OAuthSettings, server: string) {
    this.#server = server;
    this.#acquisition = new Acquisition(settings, server);
  }

  get #tokens(): Tokens | undefined {
    return typeof this.#held === "object" ? this.#held.tokens : undefined;
  }

  get #proofs(): Proofs | undefined {
    return typeof this.#held === "object" ? this.#held.proofs : undefined;
  }

  /** The headers of a request. Tokens that are about to expire are refreshed first. */
  headers(url: string, method: string): HeaderFields | Promise<HeaderFields> {
    const held = this.#held;
    if (held === undefined) return this.#load().then(() => this.headers(url, method));
    if (held === "none") return none;
    const { tokens, proofs } = held;
    if (isDue(tokens) && performance.now() >= this.#refreshAgainAt)
      return this.#refresh(tokens).then(() => this.headers(url, method));
    const authorization = authorizationOf(tokens);
    if (proofs === undefined) return { authorization };
    return proofs.header(url, method, tokens.accessToken).then((dpop) => ({ authorization, dpop }));
  }

  /** Obtains what the server asks for. Resolves with whether the request is worth another try. */
  async refused(refusal: AuthRefusal): Promise<boolean> {
    const challenge = parseChallenge(refusal.challenge);
    if (challenge.error === "use_dpop_nonce") return this.#proofs !== undefined;
    const { refused: used, status } = refusal;
    const tokens = this.#tokens;
    // Another request was refused before, and new tokens have come meanwhile.
    if (tokens && used !== authorizationOf(tokens)) return true;
    const names = challenge.error === "insufficient_scope" ? challenge.scope : undefined;
    if (status === 403 && names === undefined) return false;
    await this.#throwIfHopeless(refusal, challenge);
    this.#wait(refusal);
    if (this.#obtaining && this.#nobodyWaits.signal.aborted) {
      // It goes on for those who have given up: what became of it decides.
      await this.#obtaining.catch(() => {});
      return this.refused(refusal);
    }
    await (this.#obtaining ??= this.#obtain(refusal, challenge));
    return true;
  }

  /** Notes what a reply says about the tokens, and the nonce that the server wants in the next proof. */
  replied({ status, url, header }: AuthReply): void {
    if (status !== 401) this.#isAccepted = true;
    const nonce = this.#proofs && header("dpop-nonce");
    if (nonce !== undefined) this.#proofs?.nonce(url, nonce);
  }

  /** Forgets the tokens, here and in the store. */
  async forget(): Promise<void> {
    if (this.#held === undefined) await this.#load();
    this.#held = "none";
    await this.#acquisition.forget();
  }

  #load(): Promise<void> {
    const load = async (): Promise<void> => {
      this.#held = (await this.#acquisition.returned()) ?? (await this.#acquisition.kept()) ?? "none";
    };
    return (this.#loading ??= load().finally(() => (this.#loading = undefined)));
  }

  #refresh(tokens: Tokens): Promise<void> {
    const refresh = async (): Promise<void> => {
      const before = this.#held;
      const refreshed = await this.#acquisition.refresh(tokens).catch(() => undefined);
      if (refreshed) this.#hold(refreshed, before);
      this.#refreshAgainAt = performance.now() + refreshAgainMs;
    };
    return (this.#refreshing ??= refresh().finally(() => (this.#refreshing = undefined)));
  }

  /** Uses new tokens, unless the person has signed out meanwhile. */
  #hold(obtained: Obtained, before: Obtained | "none" | undefined): void {
    if (this.#held === "none" && before !== "none") return;
    this.#held = obtained;
    this.#isAccepted = false;
  }

  async #obtain({ status, revision }: AuthRefusal, challenge: Challenge): Promise<void> {
    this.#nobodyWaits = new AbortController();
    const before = this.#held;
    const isUseless = typeof before === "object" && before.by === "refresh" && !this.#isAccepted;
    try {
      const obtained = await this.#acquisition.obtain({
        challenge,
        refused: this.#tokens,
        isNewGrant: status === 403 || isUseless,
        revision,
        waiting: { signal: this.#nobodyWaits.signal, prompt: (address) => this.#prompt(address) },
      });
      this.#hold(obtained, before);
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
      this.#nobodyWaits.abort();
      clearInterval(this.#alive);
    });
  }

  #prompt(address: string): void {
    this.#address = address;
    for (const refusal of this.#waiting) refusal.prompt(address);
  }

  /** Throws if the server refuses what it was just given: another sign-in would end the same way. */
  async #throwIfHopeless({ status }: AuthRefusal, challenge: Challenge): Promise<void> {
    if (typeof this.#held !== "object") return;
    const { tokens, by } = this.#held;
    const server = shownUrl(this.#server);
    if (status === 401 && by === "grant" && !this.#isAccepted) {
      // A later request may try anew: by then, somebody may have mended the server.
      this.#held = { ...this.#held, by: "store" };
      const remedy = tokens.dpopKey
        ? "supports DPoP (or drop the option dpop), and accepts this issuer and this audience"
        : "accepts this issuer and this audience";
      throw new OAuthError(
        "refused",
        `${server} refuses the token that ${shown(tokens.issuer)} has just issued for ${shownUrl(tokens.resource)}${await said(tokens, challenge)}: see that the server ${remedy}`,
      );
    }
    const missing = challenge.scope?.filter((scope) => !tokens.scopes.includes(scope)) ?? [];
    if (status === 403 && missing.length === 0) {
      throw new OAuthError(
        "refused",
        `${server} asks for the scope ${shown(challenge.scope?.join(" "))}, which was asked for already${await said(tokens, challenge)}: see that ${shown(tokens.issuer)} grants it to this user`,
      );
    }
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

function authorizationOf({ scheme, accessToken }: Tokens): string {
  return `${scheme} ${accessToken}`;
}
