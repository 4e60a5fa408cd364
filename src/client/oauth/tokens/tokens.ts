// What a client keeps: its tokens, its registrations, and what belongs to which server.
import type { Client, JWK } from "oauth4webapi";
import { isObject, isTexts } from "../../../wire/message.ts";
import type { TokenStore } from "../settings/store.ts";
import { Shelf } from "./shelf.ts";

/** What tokens are bound to: whose they are, and whom they are for. */
export interface Binding {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string;
}

/** What an authorization server has issued to one client for one resource. */
export interface Tokens extends Binding {
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly refreshToken?: string | undefined;
  /** When to refresh them, a little before they expire, in milliseconds since 1970; undefined if the authorization server did not say. */
  readonly renewAt?: number | undefined;
  /** Every scope that was asked for so far. */
  readonly scopes: readonly string[];
  /** The private key that the tokens are bound to. */
  readonly dpopKey?: JWK | undefined;
  /** The client that they were issued to. It may have registered itself again since, under another id. */
  readonly client?: Client | undefined;
}

/** A client that has registered itself. */
export interface Registration {
  readonly issuer: string;
  readonly client: Client;
  readonly redirectUri?: string | undefined;
}

/** Where the tokens of one client at one authorization server for one resource are. */
export function tokensShelf(store: TokenStore, { issuer, clientId, resource }: Binding): Shelf<Tokens> {
  return new Shelf(
    store,
    keyOf("tokens", issuer, clientId, resource),
    (value): value is Tokens =>
      isTokens(value) &&
      value.issuer === issuer &&
      value.clientId === clientId &&
      value.resource === resource,
  );
}

/** Where the registration at one authorization server is. */
export function registrationShelf(store: TokenStore, issuer: string): Shelf<Registration> {
  return new Shelf(
    store,
    keyOf("registration", issuer),
    (value): value is Registration =>
      isObject(value) &&
      value["issuer"] === issuer &&
      isObject(value["client"]) &&
      typeof value["client"]["client_id"] === "string" &&
      isOptional("string", value["redirectUri"]),
  );
}

/**
 * Where to find out what the tokens for a server were bound to the last time, so that a new process needs no discovery. `client` tells
 * apart those who share a store, such as two services with ids of their own; undefined for one that registers itself.
 */
export function bindingShelf(store: TokenStore, server: string, client?: string): Shelf<Binding> {
  return new Shelf(store, keyOf("server", server, client ?? ""), isBinding);
}

/** Where the authorization server of a client is that was registered by hand. */
export function issuerShelf(store: TokenStore, clientId: string): Shelf<string> {
  return new Shelf(store, keyOf("issuer", clientId), (value) => typeof value === "string");
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
    isSendable(value["accessToken"]) &&
    (value["scheme"] === "Bearer" || (value["scheme"] === "DPoP" && isObject(value["dpopKey"]))) &&
    isOptional("string", value["refreshToken"]) &&
    isOptional("number", value["renewAt"]) &&
    isTexts(value["scopes"]) &&
    (value["client"] === undefined || isObject(value["client"]))
  );
}

/** Whether a token can be the value of a header. */
function isSendable(value: unknown): boolean {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

function isOptional(type: "string" | "number", value: unknown): boolean {
  return value === undefined || typeof value === type;
}
