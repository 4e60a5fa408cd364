// What a client stores, as JSON: its tokens, its registrations, and what belongs to which server.
import type { Client, JWK } from "oauth4webapi";
import { isObject, isTexts } from "../../../base/wire/message.ts";
import type { TokenStore } from "./token-store.ts";

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
function stored<T>(store: TokenStore, key: string, holds: (value: unknown) => value is T): Stored<T> {
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
export function tokensOf(store: TokenStore, { issuer, clientId, resource }: Binding): Stored<Tokens> {
  return stored(
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
  return stored(
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
export function bindingOf(store: TokenStore, server: string, client?: string): Stored<Binding> {
  return stored(store, keyOf("server", server, client ?? ""), isBinding);
}

/** The authorization server of a client that was registered by hand. */
export function issuerOf(store: TokenStore, clientId: string): Stored<string> {
  return stored(store, keyOf("issuer", clientId), (value) => typeof value === "string");
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
