// Protected servers and authorization servers that others wrote, set up as their documentation shows it.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import {
  createOAuthMetadata,
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
  mcpAuthRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as v2 from "@modelcontextprotocol/server";
import express, { type Express, type RequestHandler } from "express";
import { FastMCP, type FastMCPSessionAuth, OAuthProvider } from "fastmcp";
import { type Configuration, Provider } from "oidc-provider";
import { onTestFinished } from "vitest";

const hello = { content: [{ type: "text" as const, text: "Hello" }] };

/** Serves on loopback until the test ends. Resolves with the origin. */
async function listen(handler: RequestListener): Promise<string> {
  const http = createServer(handler);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

/** Serves MCP with version 1 of the official SDK, to callers that `gate` accepts. */
function mountV1(app: Express, gate: RequestHandler): void {
  const serve = async (...[request, response]: Parameters<RequestHandler>): Promise<void> => {
    const server = new McpServer({ name: "official-v1", version: "1.0.0" });
    server.registerTool("hello", {}, () => hello);
    const transport = new StreamableHTTPServerTransport();
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response, request.body);
  };
  app.post("/mcp", express.json(), gate, serve);
}

export interface OfficialV1 {
  readonly url: string;
  readonly issuer: string;
  readonly provider: DemoInMemoryAuthProvider;
}

/** Version 1 of the official SDK, which is its own authorization server. */
export async function startV1(): Promise<OfficialV1> {
  const app = express();
  const issuer = `${await listen(app)}/`;
  const provider = new DemoInMemoryAuthProvider();
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(issuer) }));
  // The example answers 500 to a token that it does not know.
  const verifyAccessToken = (token: string): ReturnType<typeof provider.verifyAccessToken> =>
    provider.verifyAccessToken(token).catch(() => Promise.reject(new InvalidTokenError("Unknown token")));
  mountV1(app, requireBearerAuth({ verifier: { verifyAccessToken } }));
  return { url: `${issuer}mcp`, issuer, provider };
}

/** The same, with an authorization server of its own that insists on the resource. */
export async function startV1Apart(): Promise<OfficialV1> {
  const [authorization, app] = [express(), express()];
  const issuerUrl = new URL(await listen(authorization));
  const url = new URL("/mcp", await listen(app));
  const provider = new DemoInMemoryAuthProvider((resource) => resource?.href === url.href);
  const scopesSupported = ["mcp:tools"];
  const oauthMetadata = createOAuthMetadata({ provider, issuerUrl, scopesSupported });
  authorization.use(mcpAuthRouter({ provider, issuerUrl, scopesSupported }));
  app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: url, scopesSupported }));
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  mountV1(
    app,
    requireBearerAuth({ verifier: provider, requiredScopes: scopesSupported, resourceMetadataUrl }),
  );
  return { url: url.href, issuer: issuerUrl.href, provider };
}

/** oidc-provider as it is by default, with its own pages. Resolves with the issuer. */
export async function startProvider(configuration: Configuration): Promise<string> {
  let provider: Provider | undefined;
  const issuer = await listen((request, response) => void provider?.callback()(request, response));
  provider = new Provider(issuer, configuration);
  return issuer;
}

export interface OfficialV2 {
  readonly url: string;
  /** The tokens that it has seen. */
  readonly tokens: Set<string>;
  /** Tokens that it takes no longer. */
  readonly ended: Set<string>;
}

/** Version 2 of the official SDK, with its checks for bearer tokens. */
export async function startV2(issuer: string): Promise<OfficialV2> {
  const [tokens, ended] = [new Set<string>(), new Set<string>()];
  const metadata = await fetch(`${issuer}/.well-known/openid-configuration`);
  const oauthMetadata = (await metadata.json()) as v2.OAuthMetadata;
  const handler = v2.createMcpHandler(() => {
    const server = new v2.McpServer({ name: "official-v2", version: "2.0.0" });
    server.registerTool("hello", {}, () => hello);
    return server;
  });
  const verifyAccessToken = async (token: string): Promise<v2.AuthInfo> => {
    tokens.add(token);
    if (ended.has(token)) throw new v2.OAuthError(v2.OAuthErrorCode.InvalidToken, "It has ended");
    return { token, clientId: "app", scopes: [], expiresAt: Math.floor(Date.now() / 1000) + 60 };
  };
  let url: URL;
  const serve = async (request: Request): Promise<Response> => {
    const document = v2.oauthMetadataResponse(request, { oauthMetadata, resourceServerUrl: url });
    if (document) return document;
    if (new URL(request.url).pathname !== "/mcp") return new Response(null, { status: 404 });
    const resourceMetadataUrl = v2.getOAuthProtectedResourceMetadataUrl(url);
    const auth = await v2.requireBearerAuth({ verifier: { verifyAccessToken }, resourceMetadataUrl })(
      request,
    );
    return auth instanceof Response ? auth : handler.fetch(request, { authInfo: auth });
  };
  url = new URL("/mcp", await listen(getRequestListener(serve, { overrideGlobalObjects: false })));
  return { url: url.href, tokens, ended };
}

/** FastMCP in front of oidc-provider, where only FastMCP is registered; people come back to addresses like `redirectUris`. */
export async function startFastMcp(redirectUris: string): Promise<string> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const [clientId, clientSecret] = ["fastmcp", "a secret that only the two of them know"];
  const issuer = await startProvider({
    clients: [
      { client_id: clientId, client_secret: clientSecret, redirect_uris: [`${baseUrl}/oauth/callback`] },
    ],
  });
  const auth = new OAuthProvider({
    baseUrl,
    clientId,
    clientSecret,
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    scopes: ["openid"],
    allowedRedirectUriPatterns: [redirectUris],
  });
  return runFastMcp(new FastMCP({ name: "fastmcp", version: "1.0.0", auth }), port);
}

/** FastMCP that takes a fixed token, and says nothing about where to get one. */
export async function startFastMcpWithKey(key: string): Promise<string> {
  const server = new FastMCP({
    name: "fastmcp",
    version: "1.0.0",
    authenticate: async ({ headers }) => {
      if (headers.authorization !== `Bearer ${key}`) throw new Response(null, { status: 401 });
      return { isKnown: true };
    },
  });
  return runFastMcp(server, await freePort());
}

async function runFastMcp<T extends FastMCPSessionAuth>(server: FastMCP<T>, port: number): Promise<string> {
  server.addTool({ name: "hello", execute: async () => "Hello" });
  await server.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1" } });
  onTestFinished(() => server.stop());
  return `http://127.0.0.1:${port}/mcp`;
}

async function freePort(): Promise<number> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  await new Promise((resolve) => http.close(resolve));
  return port;
}
