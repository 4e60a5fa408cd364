// The entry points that take options: how to give them some, and where their type is.
import { PassThrough } from "node:stream";
import { createClient } from "@redis/client";
import { McpServer, result } from "halyard";
import { connect as connectClient, connectAll, type McpClient, type McpClients } from "halyard/client";
import { clientCredentials, enterpriseManaged, oauth, workloadIdentity } from "halyard/client/oauth";
import { memoryBackplane } from "halyard/cluster";
import { bearerAuth, developmentIssuer } from "halyard/auth";
import { dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { natsBackplane } from "halyard/nats";
import { nodeHandler, serveHttp } from "halyard/node";
import { redisBackplane } from "halyard/redis";
import { serveStdio } from "halyard/stdio";
import { connect } from "halyard/testing";
import { Connection, Pipe, portOf } from "halyard/transport";
import { windowOf } from "halyard/window";
import { makeServer } from "./catalogue.ts";

export interface EntryPoint {
  /** Gives the options to the entry point. */
  readonly give: (options: never) => unknown;
  /** What it cannot do without. */
  readonly needed?: object;
  /** Where its type is. */
  readonly type: readonly [file: string, name: string];
  /** Whether it waits for another party if its options are right. */
  readonly waits?: true;
}

export const info = { name: "test", version: "1.0.0" };
export const bearer = {
  resource: "https://mcp.example.com/mcp",
  authorizationServers: ["https://auth.example.com"],
};
const registered = {
  issuer: "https://auth.example.com",
  clientId: "service",
  clientSecret: "a secret",
};
const streams = { input: new PassThrough(), output: new PassThrough() };

/** Calls a client whose server has tasks, as clients of 2025-11-25 know them. */
async function withClient(call: (client: McpClient) => unknown): Promise<void> {
  const server = new McpServer(info);
  server.tool("work", { task: "optional" }, () => "done");
  await using client = await connectClient(server, { revision: "2025-11-25" });
  await call(client);
}

async function withClients(call: (clients: McpClients) => unknown): Promise<void> {
  const server = new McpServer(info);
  server.tool("work", {}, () => "done");
  await using clients = await connectAll({ a: server });
  await call(clients);
}

/** Asks in a handler, and throws what the asking threw. */
async function ask(
  question: (ctx: Parameters<Parameters<McpServer["tool"]>[2]>[1]) => Promise<unknown>,
): Promise<void> {
  const { server } = makeServer();
  let thrown: unknown;
  server.tool("ask", {}, async (_, ctx) => {
    thrown = await question(ctx).catch((error: unknown) => error);
  });
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const client = await connect(server, { revision: "2025-11-25", capabilities });
  await client.request("tools/call", { name: "ask" });
  await client.close();
  throw thrown;
}

export const entryPoints: Readonly<Record<string, EntryPoint>> = {
  "new McpServer, info": {
    give: (given) => new McpServer(given),
    needed: info,
    type: ["src/protocol/model.ts", "Implementation"],
  },
  "new McpServer": {
    give: (options) => new McpServer(info, options),
    type: ["src/server/options.ts", "ServerOptions"],
  },
  serveHttp: {
    give: (options) => serveHttp(new McpServer(info), options),
    needed: { port: 0 },
    type: ["src/transports/node/serve.ts", "ServeHttpOptions"],
  },
  nodeHandler: {
    give: (options) => nodeHandler(new McpServer(info), options),
    type: ["src/transports/http/options.ts", "HttpOptions"],
  },
  fetchHandler: {
    give: (options) => fetchHandler(new McpServer(info), options),
    type: ["src/transports/http/options.ts", "HttpOptions"],
  },
  dashboard: { give: dashboard, type: ["src/dashboard/options.ts", "DashboardOptions"] },
  "window.snapshot": {
    give: (options) => windowOf(new McpServer(info)).snapshot("sessions", options),
    type: ["src/window/snapshot/views.ts", "SnapshotOptions"],
  },
  "window.follow": {
    give: (options) => windowOf(new McpServer(info)).follow(options, () => {}),
    type: ["src/window/follow/followed.ts", "FollowOptions"],
  },
  serveStdio: {
    give: (options) => serveStdio(new McpServer(info), options),
    needed: streams,
    type: ["src/transports/stdio/index.ts", "StdioOptions"],
  },
  bearerAuth: { give: bearerAuth, needed: bearer, type: ["src/auth/options.ts", "BearerAuthOptions"] },
  memoryBackplane: { give: memoryBackplane, type: ["src/cluster/engine/engine.ts", "BackplaneOptions"] },
  redisBackplane: {
    give: (options) => redisBackplane(createClient(), options),
    type: ["src/cluster/engine/engine.ts", "BackplaneOptions"],
  },
  developmentIssuer: {
    give: (options) => developmentIssuer(options),
    type: ["src/auth/development.ts", "DevelopmentIssuerOptions"],
  },
  "token of developmentIssuer": {
    give: (options) => developmentIssuer().token(options),
    type: ["src/auth/development.ts", "DevelopmentTokenOptions"],
  },
  natsBackplane: {
    give: (options) => natsBackplane({} as never, options),
    type: ["src/cluster/engine/engine.ts", "BackplaneOptions"],
  },
  "server.tool": {
    give: (definition) => makeServer().server.tool("x", definition, () => ""),
    type: ["src/server/catalogue/tool-definition.ts", "ToolDefinition"],
  },
  "handle.update": {
    give: (changes) =>
      makeServer()
        .server.tool("x", {}, () => "")
        .update(changes),
    type: ["src/server/catalogue/tool-definition.ts", "ToolDefinition"],
  },
  "server.method": {
    give: (definition) => makeServer().server.method("x/y", definition, () => ({})),
    type: ["src/server/catalogue/methods.ts", "MethodDefinition"],
  },
  "server.prompt": {
    give: (definition) => makeServer().server.prompt("x", definition, () => ""),
    type: ["src/server/catalogue/prompts.ts", "PromptDefinition"],
  },
  "server.resource": {
    give: (definition) => makeServer().server.resource("x:y", definition, () => ""),
    type: ["src/server/catalogue/resources.ts", "ResourceDefinition"],
  },
  "server.resourceTemplate": {
    give: (definition) => makeServer().server.resourceTemplate("x:{y}", definition, () => ""),
    type: ["src/server/catalogue/resources.ts", "TemplateDefinition"],
  },
  "server.extension": {
    give: (extension) => makeServer().server.extension("com.example/x", extension),
    type: ["src/server/catalogue/extensions.ts", "Extension"],
  },
  "an extension's method": {
    give: (method) => makeServer().server.extension("com.example/x", { requests: { "x/y": method } }),
    needed: { run: () => ({}) },
    type: ["src/server/catalogue/extensions.ts", "ExtensionMethod"],
  },
  "an extension's filter": {
    give: (filter) => makeServer().server.extension("com.example/x", { listens: { x: filter } }),
    needed: { notification: "notifications/x", kind: "flag" },
    type: ["src/server/catalogue/extensions.ts", "ExtensionListen"],
  },
  "new Connection": {
    give: (options) => new Connection(options),
    needed: { transport: "test" },
    type: ["src/server/context/connection.ts", "ConnectionOptions"],
  },
  "new Pipe": {
    give: (options) => new Pipe(portOf(new McpServer(info)), { write: () => true, destroy() {} }, options),
    needed: { transport: "test" },
    type: ["src/server/pipe.ts", "PipeOptions"],
  },
  secureRequestState: {
    give: (options) => makeServer().server.secureRequestState(options),
    type: ["src/server/request-state/options.ts", "RequestStateOptions"],
  },
  "result()": { give: result, type: ["src/server/catalogue/results.ts", "ToolResultParts"] },
  "ctx.elicit": {
    give: (options) => ask((ctx) => ctx.elicit("?", new URL("https://example.com"), options)),
    type: ["src/protocol/asking.ts", "UrlAskOptions"],
    waits: true,
  },
  "ctx.sample": {
    give: (options) => ask((ctx) => ctx.sample("?", options)),
    type: ["src/protocol/asking.ts", "SampleOptions"],
    waits: true,
  },
  "ctx.roots": {
    give: (options) => ask((ctx) => ctx.roots(options)),
    type: ["src/protocol/asking.ts", "AskOptions"],
    waits: true,
  },
  "server.log": {
    give: (options) => makeServer().server.log("info", "x", options),
    type: ["src/server/push.ts", "LogOptions"],
  },
  connect: {
    give: (options) => connect(new McpServer(info), options),
    needed: { revision: "2026-07-28" },
    type: ["src/testing/memory.ts", "ConnectOptions"],
  },
  "request of a test client": {
    give: async (options) => {
      const client = await connect(new McpServer(info));
      await client.request("server/discover", {}, options).finally(() => client.close());
    },
    type: ["src/testing/client.ts", "RawRequestOptions"],
  },
  "connect of halyard/client": {
    give: (options) => connectClient(new McpServer(info), options),
    type: ["src/client/settings/options.ts", "ConnectOptions"],
  },
  "connect of halyard/client, a command": {
    give: connectClient,
    needed: { command: "node" },
    type: ["src/client/settings/command.ts", "CommandTarget"],
    waits: true,
  },
  oauth: { give: oauth, type: ["src/client/oauth/settings/options.ts", "OAuthOptions"] },
  clientCredentials: {
    give: clientCredentials,
    needed: registered,
    type: ["src/client/oauth/settings/options.ts", "ClientCredentialsOptions"],
  },
  enterpriseManaged: {
    give: enterpriseManaged,
    needed: {
      ...registered,
      identityProvider: { issuer: registered.issuer, clientId: "desk", idToken: "a JWT" },
    },
    type: ["src/client/oauth/settings/options.ts", "EnterpriseManagedOptions"],
  },
  workloadIdentity: {
    give: workloadIdentity,
    needed: { issuer: registered.issuer, assertion: "a JWT" },
    type: ["src/client/oauth/settings/options.ts", "WorkloadIdentityOptions"],
  },
  connectAll: {
    give: (options) => connectAll({ a: new McpServer(info) }, options),
    type: ["src/client/connect-all.ts", "ConnectAllOptions"],
  },
  "connectAll, of one server": {
    give: (options) => connectAll({ a: new McpServer(info) }, { servers: { a: options } }),
    type: ["src/client/settings/options.ts", "ConnectOptions"],
  },
  "client.callTool": {
    give: (options) => withClient((client) => client.callTool("work", {}, options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.startTask": {
    give: (options) => withClient((client) => client.startTask("work", {}, options)),
    type: ["src/client/settings/call-options.ts", "StartTaskOptions"],
  },
  "task.status": {
    give: (options) => withClient(async (client) => (await client.startTask("work")).status(options)),
    type: ["src/client/tasks/task.ts", "TaskOptions"],
  },
  "task.cancel": {
    give: (options) => withClient(async (client) => (await client.startTask("work")).cancel(options)),
    type: ["src/client/tasks/task.ts", "TaskOptions"],
  },
  "task.result": {
    give: (options) => withClient(async (client) => (await client.startTask("work")).result(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.complete": {
    give: (options) =>
      withClient((client) =>
        client.complete({ type: "ref/prompt", name: "x" }, { name: "y", value: "" }, options),
      ),
    type: ["src/client/settings/call-options.ts", "CompleteOptions"],
  },
  "client.page": {
    give: (options) => withClient((client) => client.page("tools", options)),
    type: ["src/client/settings/call-options.ts", "PageOptions"],
  },
  "client.listen": {
    give: (filter) => withClient((client) => client.listen(filter)),
    type: ["src/client/listening/filter.ts", "ListenFilter"],
  },
  "client.listen, options": {
    give: (options) => withClient((client) => client.listen({ tools: true }, () => {}, options)),
    type: ["src/client/listening/listening.ts", "ListenOptions"],
  },
  "clients.listen": {
    give: (filter) => withClients((clients) => clients.listen(filter, () => {})),
    type: ["src/client/several-listening.ts", "ServersFilter"],
  },
  "clients.tools": {
    give: (options) => withClients((clients) => clients.tools(options)),
    type: ["src/client/named-options.ts", "ServerCallOptions"],
  },
  "clients.callTool": {
    give: (options) => withClients((clients) => clients.callTool("a_work", {}, options)),
    type: ["src/client/named-options.ts", "ServerCallOptions"],
  },
  "client.listTools": {
    give: (options) => withClient((client) => client.listTools(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.eachTool": {
    give: (options) => withClient((client) => client.eachTool(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.listPrompts": {
    give: (options) => withClient((client) => client.listPrompts(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.eachPrompt": {
    give: (options) => withClient((client) => client.eachPrompt(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.listResources": {
    give: (options) => withClient((client) => client.listResources(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.eachResource": {
    give: (options) => withClient((client) => client.eachResource(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.listResourceTemplates": {
    give: (options) => withClient((client) => client.listResourceTemplates(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.eachResourceTemplate": {
    give: (options) => withClient((client) => client.eachResourceTemplate(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.readResource": {
    give: (options) => withClient((client) => client.readResource("x:y", options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.getPrompt": {
    give: (options) => withClient((client) => client.getPrompt("x", {}, options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.ping": {
    give: (options) => withClient((client) => client.ping(options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.setLogLevel": {
    give: (options) => withClient((client) => client.setLogLevel("info", options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
  "client.request": {
    give: (options) => withClient((client) => client.request("ping", {}, options)),
    type: ["src/client/settings/call-options.ts", "CallOptions"],
  },
};
