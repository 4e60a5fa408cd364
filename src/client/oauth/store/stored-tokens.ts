// The tokens of one client for one MCP server in a store: found without discovery, and replaced only if no other process has replaced them.
import { Secrets } from "../../redaction/secrets.ts";
import { printable, shownUrl } from "../../settings/shown.ts";
import { type Binding, bindingOf, type Stored, type Tokens, tokensOf } from "./stored.ts";
import type { TokenStore } from "./token-store.ts";

export class StoredTokens {
  readonly #store: TokenStore;
  readonly #server: string;
  readonly #binding: Stored<Binding>;
  /** Tokens that the store did not take, and those that they replace. */
  #unsaved: { readonly tokens: Tokens; readonly before: Tokens | undefined } | undefined;

  /** `client` tells clients apart that share a store. */
  constructor(store: TokenStore, server: string, client: string | undefined) {
    this.#store = store;
    this.#server = server;
    this.#binding = bindingOf(store, server, client);
  }

  /** The current tokens: those of the same issuer, client and resource, if a binding is given, else the last ones for this server. */
  async read(binding?: Binding): Promise<Tokens | undefined> {
    const unsaved = await this.#save();
    const place = unsaved ?? binding ?? (await this.#binding.read());
    return unsaved ?? (place && tokensOf(this.#store, place).read());
  }

  /** Stores tokens in place of `old`, or of whatever is there. Resolves with what is there then: others instead of `old` are as good. */
  async replace(tokens: Tokens, old?: Tokens): Promise<Tokens> {
    const before = this.#unsaved
      ? this.#unsaved.before
      : (old ?? (await tokensOf(this.#store, tokens).read()));
    this.#unsaved = { tokens, before };
    return (await this.read(tokens)) ?? tokens;
  }

  /** Forgets the tokens for this server, also if another process has stored them. */
  async forget(): Promise<void> {
    this.#unsaved = undefined;
    const place = await this.#binding.read();
    const stored = place && tokensOf(this.#store, place);
    await stored?.swap(await stored.read(), undefined);
  }

  /** Runs `work` while no other process obtains tokens for this server or, if tokens are given, refreshes these. */
  exclusive<T>(work: () => Promise<T>, tokens?: Binding, signal?: AbortSignal): Promise<T> {
    const stored = tokens ? tokensOf(this.#store, tokens) : this.#binding;
    return stored.exclusive(work, signal);
  }

  /** Puts what is unsaved into the store. Resolves with it if that fails: what it replaces is already invalid, so it must not be lost. */
  async #save(): Promise<Tokens | undefined> {
    if (this.#unsaved === undefined) return undefined;
    const { tokens, before } = this.#unsaved;
    const { issuer, clientId, resource } = tokens;
    try {
      await tokensOf(this.#store, tokens).swap(before, tokens);
      await this.#binding.swap(await this.#binding.read(), { issuer, clientId, resource });
      this.#unsaved = undefined;
      return undefined;
    } catch (error) {
      // A store may say what it could not keep.
      const { accessToken, refreshToken, dpopKey, client } = tokens;
      const secrets = new Secrets();
      for (const secret of [accessToken, refreshToken, dpopKey?.["d"], client?.["client_secret"]])
        secrets.add("secret", secret as string | undefined);
      const reason = printable(await secrets.clean(String(error)));
      console.warn(`halyard: the tokens for ${shownUrl(this.#server)} are only kept in memory: ${reason}`);
      return tokens;
    }
  }
}
