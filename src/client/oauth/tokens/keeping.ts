// The tokens of one client for one MCP server in a store: found without discovery, replaced only if nobody else has replaced them.
import { Secrets } from "../../redaction/secrets.ts";
import { printable, shownUrl } from "../../settings/shown.ts";
import type { TokenStore } from "../settings/store.ts";
import type { Shelf } from "./shelf.ts";
import { type Binding, bindingShelf, type Tokens, tokensShelf } from "./tokens.ts";

export class Keeping {
  readonly #store: TokenStore;
  readonly #server: string;
  readonly #binding: Shelf<Binding>;
  /** Tokens that the store did not take, and those that they replace. */
  #unsaved: { readonly tokens: Tokens; readonly before: Tokens | undefined } | undefined;

  /** `client` tells apart those who share a store. */
  constructor(store: TokenStore, server: string, client: string | undefined) {
    this.#store = store;
    this.#server = server;
    this.#binding = bindingShelf(store, server, client);
  }

  /** The current tokens: those of the same issuer, client and resource, if a binding is given, else the last ones for this server. */
  async read(binding?: Binding): Promise<Tokens | undefined> {
    const unsaved = await this.#save();
    const place = unsaved ?? binding ?? (await this.#binding.read());
    return unsaved ?? (place && this.#shelf(place).read());
  }

  /** Keeps tokens in place of `old`, or of whatever is kept. Resolves with what is kept then: others instead of `old` are as good. */
  async replace(tokens: Tokens, old?: Tokens): Promise<Tokens> {
    const before = this.#unsaved ? this.#unsaved.before : (old ?? (await this.#shelf(tokens).read()));
    this.#unsaved = { tokens, before };
    return (await this.read(tokens)) ?? tokens;
  }

  /** Drops a refresh token that is of no use. Resolves with what is kept then: there may be other tokens by now. */
  async bury(old: Tokens): Promise<Tokens> {
    const shelf = this.#shelf(old);
    const dead = { ...old, refreshToken: undefined };
    return (await shelf.swap(old, dead)) ? dead : ((await shelf.read()) ?? dead);
  }

  /** Forgets the tokens for this server, whoever has kept them. */
  async forget(): Promise<void> {
    this.#unsaved = undefined;
    const place = await this.#binding.read();
    const shelf = place && this.#shelf(place);
    await shelf?.swap(await shelf.read(), undefined);
  }

  /** Runs `work` while nobody else obtains tokens for this server or, if they are given, refreshes these. */
  exclusive<T>(work: () => Promise<T>, tokens?: Binding, signal?: AbortSignal): Promise<T> {
    const shelf = tokens ? this.#shelf(tokens) : this.#binding;
    return shelf.exclusive(work, signal);
  }

  /** Puts what is unsaved into the store. Resolves with it if that fails: it replaces what is of no use any more, so it must not be lost. */
  async #save(): Promise<Tokens | undefined> {
    if (this.#unsaved === undefined) return undefined;
    const { tokens, before } = this.#unsaved;
    const { issuer, clientId, resource } = tokens;
    try {
      await this.#shelf(tokens).swap(before, tokens);
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

  #shelf(binding: Binding): Shelf<Tokens> {
    return tokensShelf(this.#store, binding);
  }
}
