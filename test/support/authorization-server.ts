// A real authorization server on loopback: oidc-provider, with keys that the tests know, so that they can forge tokens too.
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Configuration, Provider } from "oidc-provider";
import { onTestFinished } from "vitest";
import { answerInteraction, grantAll } from "./authorization-pages.ts";
import { followRedirects } from "./sign-in.ts";
import { makeKey, signToken, type SigningKey, type TokenHeader } from "./signing-keys.ts";

export const redirectUrl = "http://127.0.0.1:1/callback";
const scopes = "notes:read notes:write notes:admin";
const secret = "a secret that only the two of them know";

/** Clients that are registered from the start; the key of `keyRobot` is `AuthorizationServer.robotKey`. */
export const registered = {
  robot: { clientId: "robot", clientSecret: secret },
  keyRobot: { clientId: "key-robot" },
  /** A person's client with a secret, which may come back to any port of loopback. */
  confidential: { clientId: "confidential-app", clientSecret: secret },
} as const;

/** What tests change while the server runs. */
interface Behaviour {
  /** Whether it shows pages with buttons, instead of signing alice in at once. */
  pages: boolean;
  /** Whether pages of other origins may register themselves, which oidc-provider does not offer. */
  registersPages: boolean;
  /** How long access tokens are valid, in seconds. */
  tokenSeconds: number;
  /** Whether a DPoP proof must contain a nonce of the server. */
  requireDpopNonce: boolean;
}

export class AuthorizationServer {
  readonly issuer: string;
  /** How often each path was asked for. */
  readonly asked = new Map<string, number>();
  /** While set, every request is answered with this status. */
  outage: number | undefined;
  readonly behaviour: Behaviour = {
    pages: false,
    registersPages: false,
    tokenSeconds: 300,
    requireDpopNonce: false,
  };
  /** The metadata of clients whose id is its address: what the server reads there. */
  readonly clientDocuments = new Map<string, object>();
  /** The private key with which `keyRobot` proves who it is. */
  readonly robotKey: SigningKey;
  readonly #http: Server;
  #key: SigningKey;
  #provider: Provider;

  private constructor(http: Server, issuer: string, key: SigningKey, robotKey: SigningKey) {
    this.#http = http;
    this.issuer = issuer;
    this.#key = key;
    this.robotKey = robotKey;
    this.#provider = this.#makeProvider();
    http.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<AuthorizationServer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    return new AuthorizationServer(http, `http://127.0.0.1:${port}`, await makeKey(), await makeKey());
  }

  /** The same, closed when the test ends. */
  static async startForTest(behaviour: Partial<Behaviour> = {}): Promise<AuthorizationServer> {
    const server = await AuthorizationServer.start();
    Object.assign(server.behaviour, behaviour);
    onTestFinished(() => server.close());
    return server;
  }

  get key(): SigningKey {
    return this.#key;
  }

  /** Signs with another key from now on; the old one is gone. */
  async rotate(): Promise<void> {
    this.#key = await makeKey();
    this.#provider = this.#makeProvider();
  }

  /** A token of a client that acts for itself, issued by the server in earnest. */
  async issue(resource: string, scope = scopes, client: "robot" | "opaque-robot" = "robot"): Promise<string> {
    const reply = await fetch(`${this.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${client}:${encodeURIComponent(secret)}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", resource, scope }),
    });
    const { access_token: token } = (await reply.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`No token: ${reply.status}`);
    return token;
  }

  /** Takes a token back. */
  async revoke(token: string): Promise<void> {
    await fetch(`${this.issuer}/token/revocation`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`opaque-robot:${encodeURIComponent(secret)}`)}` },
      body: new URLSearchParams({ token }),
    });
  }

  /** A token such as the server issues, with changes; undefined leaves a claim out. */
  forge(claims: Readonly<Record<string, unknown>>, header?: TokenHeader): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const whole = {
      iss: this.issuer,
      sub: "alice",
      client_id: "app",
      scope: scopes,
      iat: now,
      exp: now + 300,
    };
    return signToken(this.#key, { ...whole, ...claims }, header);
  }

  /** Goes through the pages that a browser would show, and returns the parameters of the redirect to the client. */
  async visit(authorizationUrl: URL): Promise<URLSearchParams> {
    const { url, response } = await followRedirects(authorizationUrl, ({ href }) =>
      href.startsWith(redirectUrl),
    );
    if (response !== undefined)
      throw new Error(`${url.pathname} answered ${response.status}: ${await response.text()}`);
    return url.searchParams;
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const path = request.url?.split("?", 1)[0] ?? "";
    this.asked.set(path, (this.asked.get(path) ?? 0) + 1);
    if (this.outage !== undefined) return response.writeHead(this.outage).end();
    if (path === "/reg" && this.behaviour.registersPages) {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "content-type");
      if (request.method === "OPTIONS") return response.writeHead(204).end();
    }
    if (!path.startsWith("/interaction/")) return this.#provider.callback()(request, response);
    if (this.behaviour.pages) return answerInteraction(this.#provider, request, response);
    return this.#provider.interactionFinished(request, response, {
      login: { accountId: "alice" },
      consent: {},
    });
  }

  #makeProvider(): Provider {
    const { behaviour, clientDocuments } = this;
    return new Provider(this.issuer, {
      ...fixedSettings(this.robotKey),
      jwks: { keys: [this.#key.jwk] },
      fetch: async (url) => Response.json(clientDocuments.get(String(url)) ?? {}),
      features: featuresOf(behaviour),
      loadExistingGrant: granting(behaviour),
    });
  }
}

export const introspectionClient = { clientId: "resource-server", clientSecret: secret };

function clientsOf(robotKey: SigningKey): NonNullable<Configuration["clients"]> {
  const machine = { grant_types: ["client_credentials"], redirect_uris: [], response_types: [] };
  const robot = { ...machine, client_secret: secret };
  const person = {
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    application_type: "native",
  };
  return [
    { client_id: "app", token_endpoint_auth_method: "none", ...person },
    { client_id: "confidential-app", client_secret: secret, ...person },
    { client_id: "robot", ...robot },
    { client_id: "opaque-robot", ...robot },
    { client_id: "resource-server", ...robot },
    {
      client_id: "key-robot",
      ...machine,
      token_endpoint_auth_method: "private_key_jwt",
      jwks: { keys: [robotKey.publicJwk] },
    },
  ] as NonNullable<Configuration["clients"]>;
}

function fixedSettings(robotKey: SigningKey): Configuration {
  return {
    cookies: { keys: [randomUUID()] },
    scopes: ["openid", "offline_access", ...scopes.split(" ")],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clients: clientsOf(robotKey),
    clientBasedCORS: () => true,
    rotateRefreshToken: true,
    issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  };
}

function featuresOf(behaviour: Behaviour): NonNullable<Configuration["features"]> {
  return {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true },
    registration: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
    dPoP: {
      enabled: true,
      nonceSecret: randomBytes(32),
      requireNonce: () => behaviour.requireDpopNonce,
    },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource, client) => ({
        scope: scopes,
        audience: resource,
        accessTokenTTL: behaviour.tokenSeconds,
        accessTokenFormat: client.clientId === "opaque-robot" ? "opaque" : "jwt",
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  };
}

/** Grants everything at once, unless a page has asked. */
function granting(behaviour: Behaviour): Configuration["loadExistingGrant"] {
  return async (ctx) => {
    const { client, session, params, provider, result } = ctx.oidc;
    if (behaviour.pages) {
      const asked = result?.consent?.grantId ?? session?.grantIdFor(client?.clientId ?? "");
      return asked === undefined ? undefined : provider.Grant.find(asked);
    }
    const grant = new provider.Grant({
      ...(client && { clientId: client.clientId }),
      ...(session?.accountId !== undefined && { accountId: session.accountId }),
    });
    grantAll(grant, params ?? {});
    await grant.save();
    return grant;
  };
}
