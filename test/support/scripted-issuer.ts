// A fake authorization server: it keeps to the protocol, and a test replaces whatever it wants to see go wrong.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TokenClaims } from "halyard/auth";
import { onTestFinished } from "vitest";
import { type Answer, type Answering, readHead, type Request, sendAnswer } from "./answers.ts";

/** A request to the issuer. */
export interface IssuerRequest extends Request {
  /** The parameters of the query or of the form; those of JSON are in `json`. */
  readonly params: Readonly<Record<string, string>>;
  readonly json: Readonly<Record<string, unknown>>;
}

/** What an access token, a refresh token or a code stands for. */
interface Grant {
  readonly clientId: string;
  readonly resource: string;
  readonly scope: string;
  /** All that descends from one sign-in: one refresh token used twice ends the whole family. */
  readonly family: string;
}

interface Code extends Grant {
  readonly challenge: string | undefined;
  readonly redirectUri: string;
}

type Changes = Readonly<Record<string, unknown>>;

export class ScriptedIssuer {
  /** The identifier: the origin, and the path that `start` was given. */
  readonly issuer: string;
  readonly asked: IssuerRequest[] = [];
  /** Answers instead, by path. */
  readonly answers: Record<string, Answering<IssuerRequest>> = {};
  /** Changes to the metadata, to what a person brings back, to registrations and to issued tokens; undefined leaves a member out. */
  metadata: Changes = {};
  redirect: Changes = {};
  registration: Changes = {};
  token: Changes = {};
  /** How long access tokens are valid, in seconds. */
  tokenSeconds = 300;
  /** What tokens are issued for, whatever they were asked for. */
  audience: string | undefined;
  /** The clients that it knows: their metadata, by id. Any client is let in whose id is an address. */
  readonly clients = new Map<string, Changes>();
  readonly #codes = new Map<string, Code>();
  readonly #refreshTokens = new Map<string, Grant>();
  readonly #usedRefreshTokens = new Set<string>();
  readonly #accessTokens = new Map<string, Grant & { readonly expiresAt: number }>();
  readonly #endedFamilies = new Set<string>();
  #count = 0;

  private constructor(issuer: string) {
    this.issuer = issuer;
  }

  /** Answers until the test ends. */
  static async start(path = ""): Promise<ScriptedIssuer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    const issuer = new ScriptedIssuer(`http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`);
    issuer.#serve(http);
    return issuer;
  }

  get origin(): string {
    return new URL(this.issuer).origin;
  }

  /** The path where the metadata is. */
  get metadataPath(): string {
    return `/.well-known/oauth-authorization-server${new URL(this.issuer).pathname.replace(/\/$/, "")}`;
  }

  /** The metadata, with the changes. */
  get document(): Record<string, unknown> {
    return changed(
      {
        issuer: this.issuer,
        authorization_endpoint: `${this.origin}/authorize`,
        token_endpoint: `${this.origin}/token`,
        registration_endpoint: `${this.origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
        authorization_response_iss_parameter_supported: true,
        scopes_supported: ["offline_access"],
      },
      this.metadata,
    );
  }

  /** The requests to that path, so far. */
  of(path: string): IssuerRequest[] {
    return this.asked.filter((request) => request.path === path);
  }

  /** The scopes of each sign-in so far; null where none was asked for. */
  get scopesAsked(): (string | null)[] {
    return this.of("/authorize").map(({ params }) => params["scope"] ?? null);
  }

  /** The grant types of the requests for tokens so far. */
  get grantsAsked(): string[] {
    return this.of("/token").map(({ params }) => params["grant_type"] ?? "");
  }

  /** What a token says, as a protected server wants to know it: pass it as `verify`. */
  readonly claimsOf = (token: string): TokenClaims | undefined => {
    const found = this.#accessTokens.get(token);
    if (found === undefined || this.#endedFamilies.has(found.family)) return undefined;
    const { clientId, resource, scope, expiresAt } = found;
    return { iss: this.issuer, sub: "alice", aud: resource, client_id: clientId, scope, exp: expiresAt };
  };

  /** Takes back every access token; refresh tokens stay good. */
  forgetAccessTokens(): void {
    this.#accessTokens.clear();
  }

  /** Takes back every refresh token. */
  forgetRefreshTokens(): void {
    this.#refreshTokens.clear();
  }

  #serve(http: Server): void {
    http.on("request", async (request, response) => {
      const asked = await readRequest(request);
      if (asked.method === "OPTIONS") return sendAnswer(response, { status: 204 });
      this.asked.push(asked);
      const own = this.answers[asked.path];
      const answer = typeof own === "function" ? await own(asked) : own;
      sendAnswer(response, answer ?? this.#answer(asked));
    });
  }

  #answer(request: IssuerRequest): Answer {
    const routes: Readonly<Record<string, () => Answer>> = {
      [this.metadataPath]: () => ({ body: this.document }),
      "/register": () => this.#register(request.json),
      "/authorize": () => this.#authorize(request.params),
      "/token": () => this.#grant(request),
    };
    return routes[request.path]?.() ?? { status: 404 };
  }

  #register(metadata: Changes): Answer {
    const method = metadata["token_endpoint_auth_method"] ?? "client_secret_basic";
    const secret =
      method === "none" ? {} : { client_secret: this.#mint("secret"), client_secret_expires_at: 0 };
    const body = changed({ ...metadata, client_id: this.#mint("client"), ...secret }, this.registration);
    this.clients.set(String(body["client_id"]), body);
    return { status: 201, body };
  }

  /** The person agrees at once. */
  #authorize(params: Readonly<Record<string, string>>): Answer {
    const { client_id: clientId = "", redirect_uri: redirectUri = "", scope = "", resource = "" } = params;
    if (!this.#knows(clientId)) return { status: 400, body: `The client ${clientId} is not known here` };
    const code = this.#mint("code");
    const challenge = params["code_challenge"];
    this.#codes.set(code, { clientId, resource, scope, family: code, challenge, redirectUri });
    const back = new URL(redirectUri);
    const brought = changed({ code, state: params["state"], iss: this.issuer }, this.redirect);
    for (const [name, value] of Object.entries(brought)) back.searchParams.set(name, String(value));
    return { status: 302, headers: { location: back.href } };
  }

  #knows(clientId: string): boolean {
    return this.clients.has(clientId) || clientId.startsWith("https://");
  }

  #grant(request: IssuerRequest): Answer {
    const { params } = request;
    const clientId = clientOf(request);
    if (clientId !== "" && !this.#knows(clientId)) return refusal("invalid_client", 401);
    const own = { clientId, resource: params["resource"] ?? "", scope: params["scope"] ?? "" };
    const redeem: Readonly<Record<string, () => Answer>> = {
      authorization_code: () => this.#redeemCode(clientId, params),
      refresh_token: () => this.#refresh(clientId, params),
      client_credentials: () => this.#issue({ ...own, family: this.#mint("family") }, false),
      "urn:ietf:params:oauth:grant-type:jwt-bearer": () =>
        this.#issue({ ...own, family: this.#mint("family") }, false),
    };
    return redeem[params["grant_type"] ?? ""]?.() ?? refusal("unsupported_grant_type");
  }

  #redeemCode(clientId: string, params: Readonly<Record<string, string>>): Answer {
    const code = this.#codes.get(params["code"] ?? "");
    this.#codes.delete(params["code"] ?? "");
    if (code === undefined || code.clientId !== clientId) return refusal("invalid_grant");
    const hash = createHash("sha256")
      .update(params["code_verifier"] ?? "")
      .digest("base64url");
    const isProven = code.challenge === undefined || code.challenge === hash;
    if (!isProven || code.redirectUri !== params["redirect_uri"]) return refusal("invalid_grant");
    return this.#issue(code, true);
  }

  #refresh(clientId: string, params: Readonly<Record<string, string>>): Answer {
    const token = params["refresh_token"] ?? "";
    const grant = this.#refreshTokens.get(token);
    if (grant === undefined || grant.clientId !== clientId) return refusal("invalid_grant");
    if (this.#endedFamilies.has(grant.family)) return refusal("invalid_grant");
    if (!this.#usedRefreshTokens.has(token)) {
      this.#usedRefreshTokens.add(token);
      return this.#issue(grant, true);
    }
    this.#endedFamilies.add(grant.family);
    return refusal("invalid_grant");
  }

  #issue(grant: Grant, refreshable: boolean): Answer {
    const { clientId, scope, family } = grant;
    const issued = {
      access_token: this.#mint("access"),
      token_type: "Bearer",
      expires_in: this.tokenSeconds,
      ...(scope !== "" && { scope }),
      ...(refreshable && { refresh_token: this.#mint("refresh") }),
    };
    const body = changed(issued, this.token);
    this.#accessTokens.set(String(body["access_token"]), {
      clientId,
      resource: this.audience ?? grant.resource,
      scope: String(body["scope"] ?? ""),
      family,
      expiresAt: Math.floor(Date.now() / 1000) + this.tokenSeconds,
    });
    if (typeof body["refresh_token"] === "string") this.#refreshTokens.set(body["refresh_token"], grant);
    return { body };
  }

  #mint(kind: string): string {
    this.#count += 1;
    return `${kind}-${this.#count}-of-${new URL(this.issuer).port}`;
  }
}

/** The answer of a token endpoint that refuses. */
export function refusal(error: string, status = 400): Answer {
  return { status, body: { error } };
}

function changed(whole: Changes, changes: Changes): Record<string, unknown> {
  const all = Object.entries({ ...whole, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** The client that sends a request for a token, by whatever means it says so. */
function clientOf({ headers, params }: IssuerRequest): string {
  const [, basic] = /^Basic (.+)$/.exec(headers.authorization ?? "") ?? [];
  if (basic === undefined) return params["client_id"] ?? "";
  return decodeURIComponent(atob(basic).split(":", 1)[0] ?? "");
}

async function readRequest(request: IncomingMessage): Promise<IssuerRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const head = readHead(request);
  const text = Buffer.concat(chunks).toString();
  const isJson = head.headers["content-type"]?.includes("json") === true;
  const form = isJson ? [] : [...new URLSearchParams(text)];
  return {
    ...head,
    params: Object.fromEntries([...head.query, ...form]),
    json: isJson ? (JSON.parse(text) as Changes) : {},
  };
}
