// A real authorization server on loopback: oidc-provider, with keys that the tests know, so that they can forge tokens too.
import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Configuration, Provider } from "oidc-provider";
import { onTestFinished } from "vitest";
import { makeKey, signToken, type SigningKey, type TokenHeader } from "../support/signing-keys.ts";

export const redirectUrl = "http://127.0.0.1:1/callback";
const scopes = "notes:read notes:write notes:admin";
const secret = "a secret that only the two of them know";

export class AuthorizationServer {
  readonly issuer: string;
  /** How often each path was asked for. */
  readonly asked = new Map<string, number>();
  /** While set, every request is answered with this status. */
  outage: number | undefined;
  readonly #http: Server;
  #key: SigningKey;
  #provider: Provider;

  private constructor(http: Server, issuer: string, key: SigningKey) {
    this.#http = http;
    this.issuer = issuer;
    this.#key = key;
    this.#provider = makeProvider(issuer, key);
    http.on("request", (request, response) => {
      const path = request.url?.split("?", 1)[0] ?? "";
      this.asked.set(path, (this.asked.get(path) ?? 0) + 1);
      if (this.outage !== undefined) return response.writeHead(this.outage).end();
      const signIn = path.startsWith("/interaction/");
      if (!signIn) return this.#provider.callback()(request, response);
      return this.#provider.interactionFinished(request, response, {
        login: { accountId: "alice" },
        consent: {},
      });
    });
  }

  static async start(): Promise<AuthorizationServer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    return new AuthorizationServer(http, `http://127.0.0.1:${port}`, await makeKey());
  }

  /** The same, closed when the test ends. */
  static async startForTest(): Promise<AuthorizationServer> {
    const server = await AuthorizationServer.start();
    onTestFinished(() => server.close());
    return server;
  }

  get key(): SigningKey {
    return this.#key;
  }

  /** Signs with another key from now on; the old one is gone. */
  async rotate(): Promise<void> {
    this.#key = await makeKey();
    this.#provider = makeProvider(this.issuer, this.#key);
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

  /** Goes through the pages that a browser would show, and comes back with what the client is told in the end. */
  async visit(authorizationUrl: URL): Promise<URLSearchParams> {
    const cookies = new Map<string, string>();
    let url = authorizationUrl;
    for (let pages = 0; !url.href.startsWith(redirectUrl); pages++) {
      if (pages > 10) throw new Error(`Still at ${url.href}`);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const reply = await fetch(url, { redirect: "manual", headers: { cookie } });
      for (const set of reply.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      const location = reply.headers.get("location");
      if (location === null)
        throw new Error(`${url.pathname} answered ${reply.status}: ${await reply.text()}`);
      url = new URL(location, url);
    }
    return url.searchParams;
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}

export const introspectionClient = { clientId: "resource-server", clientSecret: secret };

function makeProvider(issuer: string, key: SigningKey): Provider {
  const robot = {
    client_secret: secret,
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  };
  const configuration: Configuration = {
    jwks: { keys: [key.jwk] },
    cookies: { keys: [randomUUID()] },
    scopes: ["openid", "offline_access"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clients: [
      {
        client_id: "app",
        token_endpoint_auth_method: "none",
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        application_type: "native",
      },
      { client_id: "robot", ...robot },
      { client_id: "opaque-robot", ...robot },
      { client_id: "resource-server", ...robot },
    ] as NonNullable<Configuration["clients"]>,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource, client) => ({
          scope: scopes,
          audience: resource,
          accessTokenTTL: 300,
          accessTokenFormat: client.clientId === "opaque-robot" ? "opaque" : "jwt",
          jwt: { sign: { alg: "ES256" } },
        }),
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    async loadExistingGrant(ctx) {
      const { client, session, params } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({
        ...(client && { clientId: client.clientId }),
        ...(session?.accountId !== undefined && { accountId: session.accountId }),
      });
      grant.addOIDCScope("openid offline_access");
      for (const resource of [params?.["resource"]].flat()) {
        if (typeof resource === "string") grant.addResourceScope(resource, String(params?.["scope"] ?? ""));
      }
      await grant.save();
      return grant;
    },
  };
  return new Provider(issuer, configuration);
}
