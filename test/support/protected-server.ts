// A protected MCP server on loopback, of every revision, whose documents and refusals a test can replace.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "halyard";
import { bearerAuth, type BearerAuthOptions } from "halyard/auth";
import { type HttpOptions, nodeHandler } from "halyard/node";
import { onTestFinished } from "vitest";
import { type Answering, readHead, type Request, sendAnswer } from "./answers.ts";
import type { ScriptedIssuer } from "./scripted-issuer.ts";

export interface ProtectedOptions extends Partial<BearerAuthOptions> {
  /** Where the server is. @default {"/mcp"} */
  readonly path?: string;
  readonly http?: HttpOptions;
}

/** The tools: `whoami` needs nothing but a token, `write_note` the scope `notes:write`, `burn_note` also `notes:admin`. */
function notes(): McpServer {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, ctx) => `${ctx.principal?.subject} of ${ctx.principal?.issuer}`);
  server.tool("write_note", { scopes: ["notes:write"] }, () => "Noted");
  server.tool("burn_note", { scopes: ["notes:write", "notes:admin"] }, () => "Burnt");
  return server;
}

export class ProtectedServer {
  readonly origin: string;
  readonly url: string;
  readonly server: McpServer;
  /** Every request so far. */
  readonly asked: Request[] = [];
  /** Answers instead, by path. */
  readonly answers: Record<string, Answering> = {};
  readonly #http: Server;
  readonly #handler: ReturnType<typeof nodeHandler>;

  private constructor(http: Server, origin: string, options: ProtectedOptions) {
    const { path = "/mcp", http: httpOptions = {}, ...auth } = options;
    this.origin = origin;
    this.url = `${origin}${path}`;
    this.server = notes();
    const door = bearerAuth({ resource: this.url, authorizationServers: [origin], ...auth });
    this.#http = http;
    this.#handler = nodeHandler(this.server, { graceMs: 50, path, ...httpOptions, auth: door });
    http.on("request", async (request, response) => {
      const head = readHead(request);
      this.asked.push(head);
      const own = this.answers[head.path];
      const answer = typeof own === "function" ? await own(head) : own;
      if (answer === undefined) return this.#handler(request, response);
      request.resume();
      sendAnswer(response, answer);
    });
  }

  /** Serves until it is closed. */
  static async start(options: ProtectedOptions): Promise<ProtectedServer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return new ProtectedServer(http, `http://127.0.0.1:${(http.address() as AddressInfo).port}`, options);
  }

  /** The same, closed when the test ends. */
  static async startForTest(options: ProtectedOptions): Promise<ProtectedServer> {
    const server = await ProtectedServer.start(options);
    onTestFinished(() => server.close());
    return server;
  }

  /** A server that takes the tokens of scripted issuers; it announces the first one. */
  static behind(
    issuers: readonly ScriptedIssuer[],
    options: ProtectedOptions = {},
  ): Promise<ProtectedServer> {
    return ProtectedServer.startForTest({
      authorizationServers: issuers.map(({ issuer }) => issuer),
      verify: (token) =>
        issuers.map(({ claimsOf }) => claimsOf(token)).find((claims) => claims !== undefined),
      ...options,
    });
  }

  /** The paths of the two documents that may describe the server: at its path, and at the root. */
  get metadataPaths(): { readonly path: string; readonly root: string } {
    const root = "/.well-known/oauth-protected-resource";
    return { root, path: `${root}${new URL(this.url).pathname.replace(/\/$/, "")}` };
  }

  /** Replaces the document that describes the server, wherever it is. */
  describeAs(document: object): void {
    const { path, root } = this.metadataPaths;
    this.answers[path] = this.answers[root] = { body: document };
  }

  /** Announces this authorization server from now on. */
  announce(issuer: string): void {
    this.describeAs({ resource: this.url, authorization_servers: [issuer] });
  }

  /** The values of `Authorization` that arrived at the server, in order. */
  get credentials(): (string | undefined)[] {
    const { pathname } = new URL(this.url);
    return this.asked.filter(({ path }) => path === pathname).map(({ headers }) => headers.authorization);
  }

  async close(): Promise<void> {
    this.#http.close();
    await this.#handler.close();
    this.#http.closeAllConnections();
  }
}
