// The user of the official client during its sign-in.
import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/client";
import { type AuthorizationServer, redirectUrl } from "../support/authorization-server.ts";

/** A client's memory, and a user who agrees to everything. */
export class User implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata = { redirect_uris: [redirectUrl], client_name: "test" };
  /** What the client asked for, each time. */
  readonly asked: (string | null)[] = [];
  answer: URLSearchParams | undefined;
  readonly #issuer: AuthorizationServer;
  #tokens: ReturnType<OAuthClientProvider["tokens"]>;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;

  constructor(issuer: AuthorizationServer) {
    this.#issuer = issuer;
  }

  clientInformation(): { client_id: string } {
    return { client_id: "app" };
  }
  tokens(): ReturnType<OAuthClientProvider["tokens"]> {
    return this.#tokens;
  }
  saveTokens(tokens: NonNullable<Awaited<ReturnType<OAuthClientProvider["tokens"]>>>): void {
    this.#tokens = tokens;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    this.asked.push(url.searchParams.get("scope"));
    this.answer = await this.#issuer.visit(url);
  }
}
