// A web that consists of what a test puts there: an MCP server that wants a token, an authorization server, and whatever they lead to.
import { McpServer } from "halyard";
import { connect } from "halyard/client";
import { clientCredentials, type ClientCredentialsOptions, type OAuthError } from "halyard/client/oauth";
import { fetchHandler } from "halyard/fetch";
import type { Answer } from "../../../support/answers.ts";

/** A request to anything but the MCP server. */
export interface WebRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly params: Readonly<Record<string, string>>;
}

/** What is at an address: an answer, or a function that makes a response. */
type Place = Answer | ((request: WebRequest) => Response | Promise<Response>);

/** What a test connects with: the package as Node has it, or as browsers do. */
export interface ClientPackage {
  readonly connect: typeof connect;
  readonly clientCredentials: typeof clientCredentials;
}

export class Web {
  /** The address of the MCP server, as a user writes it. */
  server: string;
  /** `WWW-Authenticate` of the MCP server. */
  challenge = "Bearer";
  /** What is where. Everything else is a 404. */
  readonly places: Record<string, Place> = {};
  readonly asked: WebRequest[] = [];
  readonly #client: ClientPackage;
  readonly #handler: (request: Request) => Promise<Response>;

  constructor(
    server = "https://mcp.example.com/mcp",
    client: ClientPackage = { connect, clientCredentials },
  ) {
    this.server = server;
    this.#client = client;
    const notes = new McpServer({ name: "notes", version: "1.0.0" });
    const { host, pathname } = new URL(server);
    this.#handler = fetchHandler(notes, { path: pathname, allowedHosts: [host] });
  }

  /** The addresses that were asked, in order. */
  get urls(): string[] {
    return this.asked.map(({ url }) => url);
  }

  /** Puts the metadata of the server there. */
  describe(url: string, document: object): this {
    this.places[url] = { body: document };
    return this;
  }

  /** Puts an authorization server there: its metadata at `url`, with changes, and its token endpoint. */
  issue(url: string, issuer: string, changes: object = {}): this {
    const { origin } = new URL(url);
    const body = {
      issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      code_challenge_methods_supported: ["S256"],
      ...changes,
    };
    this.places[url] = { body };
    this.places[body.token_endpoint] = { body: { access_token: "t0ken", token_type: "Bearer" } };
    return this;
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    if (request.url.replace(/#.*/, "") === new URL(this.server).href.replace(/#.*/, ""))
      return this.#serve(request);
    const { url, method, headers } = request;
    const params = Object.fromEntries(new URLSearchParams(await request.text()));
    const asked = { url, method, headers, params };
    this.asked.push(asked);
    const place = this.places[url] ?? { status: 404 };
    return typeof place === "function" ? place(asked) : toResponse(place);
  };

  /** Connects with the credentials of a client, and resolves with the request for a token. */
  async connect(options: Partial<ClientCredentialsOptions> = {}): Promise<WebRequest> {
    const client = await this.#client.connect(this.server, { auth: this.#auth(options), fetch: this.fetch });
    await client.close();
    return this.asked.find(({ method }) => method === "POST") as WebRequest;
  }

  /** Connects, and resolves with the error, as its problem and its message. `own`: whether OAuth fetches by itself, on the real web. */
  async failure(options: Partial<ClientCredentialsOptions> = {}, own = false): Promise<string> {
    const auth = this.#auth(options, own ? {} : { fetch: this.fetch });
    return this.#client.connect(this.server, { auth, fetch: this.fetch }).then(
      () => "connected",
      (reason: Error | OAuthError) =>
        "problem" in reason ? `${reason.problem}: ${reason.message}` : String(reason),
    );
  }

  #auth(
    options: Partial<ClientCredentialsOptions>,
    fetching: Pick<ClientCredentialsOptions, "fetch"> = { fetch: this.fetch },
  ): ReturnType<typeof clientCredentials> {
    return this.#client.clientCredentials({
      issuer: "announced",
      clientId: "service",
      clientSecret: "s3cret",
      ...fetching,
      ...options,
    });
  }

  #serve(request: Request): Promise<Response> {
    if (request.headers.has("authorization")) return this.#handler(request);
    const headers = { "www-authenticate": this.challenge };
    return Promise.resolve(new Response(null, { status: 401, headers }));
  }
}

function toResponse({ status = 200, headers = {}, body }: Answer): Response {
  const isText = body === undefined || typeof body === "string";
  const text = isText ? body : JSON.stringify(body);
  return new Response(text ?? null, {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}
