// What a client stores, as JSON: its tokens, its registrations, and what belongs to which server.
import type { Client, JWK } from "oauth4webapi";
import { isObject, isTexts } from "../../base/wire/message.ts";
import type { TokenStore } from "./settings/token-store.ts";
import { Secrets } from "../redaction/secrets.ts";
import { printable, shownUrl } from "../settings/shown.ts";

/** What tokens are bound to: the client that got them, and the resource that they are for. */
export interface Binding {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string;
}

/** What an authorization server has issued to one client for one resource. */
export interface Tokens extends Binding {
  /** The client as it was registered when they were issued: it may register itself anew, for another redirect URI. */
  readonly client: Client;
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly refreshToken?: string | undefined;
  /** When to refresh them, a little before they expire, in milliseconds since 1970; undefined if the authorization server did not say. */
  readonly renewAt?: number | undefined;
  /** Every scope requested so far. */
  readonly scopes: readonly string[];
  /** The private key that the tokens are bound to. */
  readonly dpopKey?: JWK | undefined;
}

/** The value of `Authorization` that shows the tokens. */
export function authorizationOf({ scheme, accessToken }: Tokens): string {
  return `${scheme} ${accessToken}`;
}

/** A client that has registered itself. */
export interface ClientRegistration {
  readonly issuer: string;
  readonly client: Client;
  readonly redirectUri?: string | undefined;
}

/** One value in a token store. Text that cannot be read, or has another shape, counts as absent, and is replaced. */
export interface Stored<T> {
  read(): Promise<T | undefined>;
  /** Keeps `next`, or nothing, if `expected` is what is kept now. Resolves with whether it did: if not, read again. */
  swap(expected: T | undefined, next: T | undefined): Promise<boolean>;
  /** Runs `work` while nothing else runs for this key, in any process. Work that waits for the same key again never ends. */
  exclusive<R>(work: () => Promise<R>, signal?: AbortSignal): Promise<R>;
}

/** `holds` recognises what may be kept under this key. */
function entryOf<T>(store: TokenStore, key: string, holds: (value: unknown) => value is T): Stored<T> {
  const parse = (text: string | undefined): T | undefined => {
    try {
      const value: unknown = JSON.parse(text ?? "");
      return holds(value) ? value : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    read: async () => parse(await store.get(key)),
    async swap(expected, next) {
      const text = await store.get(key);
      if (JSON.stringify(parse(text)) !== JSON.stringify(expected)) return false;
      return store.replace(key, text, next === undefined ? undefined : JSON.stringify(next));
    },
    exclusive: (work, signal) => store.exclusive(key, work, signal),
  };
}

/** The tokens of one client at one authorization server for one resource. */
function tokensOf(store: TokenStore, { issuer, clientId, resource }: Binding): Stored<Tokens> {
  return entryOf(
    store,
    keyOf("tokens", issuer, clientId, resource),
    (value): value is Tokens =>
      isTokens(value) &&
      value.issuer === issuer &&
      value.clientId === clientId &&
      value.resource === resource,
  );
}

/** The registration at one authorization server. */
export function registrationOf(store: TokenStore, issuer: string): Stored<ClientRegistration> {
  return entryOf(
    store,
    keyOf("registration", issuer),
    (value): value is ClientRegistration =>
      isObject(value) &&
      value["issuer"] === issuer &&
      isObject(value["client"]) &&
      typeof value["client"]["client_id"] === "string" &&
      isOptional("string", value["redirectUri"]),
  );
}

/**
 * What the tokens for a server were bound to the last time, so that a new process needs no discovery. `client` is the id of a
 * client that you registered, since several may share a store; it is undefined for a client that registers itself.
 */
function bindingOf(store: TokenStore, server: string, client?: string): Stored<Binding> {
  return entryOf(store, keyOf("server", server, client ?? ""), isBinding);
}

/** The authorization server of a client that was registered by hand. */
export function issuerOf(store: TokenStore, clientId: string): Stored<string> {
  return entryOf(store, keyOf("issuer", clientId), (value) => typeof value === "string");
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

function isBinding(value: unknown): value is Binding {
  return isObject(value) && isTexts([value["issuer"], value["clientId"], value["resource"]]);
}

function isTokens(value: unknown): value is Tokens {
  return (
    isObject(value) &&
    isBinding(value) &&
    isObject(value["client"]) &&
    isSendable(value["accessToken"]) &&
    (value["scheme"] === "Bearer" || (value["scheme"] === "DPoP" && isObject(value["dpopKey"]))) &&
    isOptional("string", value["refreshToken"]) &&
    isOptional("number", value["renewAt"]) &&
    isTexts(value["scopes"])
  );
}

/** Whether a token can be the value of a header. */
function isSendable(value: unknown): boolean {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

function isOptional(type: "string" | "number", value: unknown): boolean {
  return value === undefined || typeof value === type;
}

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
