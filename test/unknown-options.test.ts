// Every option of every entry point, read off its type and written wrongly: each is refused, and the right name is told.
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { createClient } from "@redis/client";
import { McpServer, result } from "halyard";
import { connect as connectClient, connectAll, type McpClient } from "halyard/client";
import { clientCredentials, enterpriseManaged, oauth, workloadIdentity } from "halyard/client/oauth";
import { memoryBackplane } from "halyard/cluster";
import { bearerAuth } from "halyard/auth";
import { dashboard } from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import { natsBackplane } from "halyard/nats";
import { nodeHandler, serveHttp } from "halyard/node";
import { redisBackplane } from "halyard/redis";
import { serveStdio } from "halyard/stdio";
import { connect } from "halyard/testing";
import { portOf } from "halyard/transport";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { makeServer } from "./support/catalogue.ts";
import { readPublicApi } from "./support/public-api.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

interface EntryPoint {
  /** Gives the options to the entry point. */
  readonly give: (options: never) => unknown;
  /** What it cannot do without. */
  readonly needed?: object;
  /** Where its type is. */
  readonly type: readonly [file: string, name: string];
}

const info = { name: "test", version: "1.0.0" };
const bearer = {
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

const entryPoints: Readonly<Record<string, EntryPoint>> = {
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
    type: ["src/node/index.ts", "ServeHttpOptions"],
  },
  nodeHandler: {
    give: (options) => nodeHandler(new McpServer(info), options),
    type: ["src/http/options.ts", "HttpOptions"],
  },
  fetchHandler: {
    give: (options) => fetchHandler(new McpServer(info), options),
    type: ["src/http/options.ts", "HttpOptions"],
  },
  dashboard: { give: dashboard, type: ["src/dashboard/options.ts", "DashboardOptions"] },
  serveStdio: {
    give: (options) => serveStdio(new McpServer(info), options),
    needed: streams,
    type: ["src/stdio/index.ts", "StdioOptions"],
  },
  bearerAuth: { give: bearerAuth, needed: bearer, type: ["src/auth/options.ts", "BearerAuthOptions"] },
  memoryBackplane: { give: memoryBackplane, type: ["src/backplane/engine.ts", "BackplaneOptions"] },
  redisBackplane: {
    give: (options) => redisBackplane(createClient(), options),
    type: ["src/backplane/engine.ts", "BackplaneOptions"],
  },
  natsBackplane: {
    give: (options) => natsBackplane({} as never, options),
    type: ["src/backplane/engine.ts", "BackplaneOptions"],
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
  secureRequestState: {
    give: (options) => makeServer().server.secureRequestState(options),
    type: ["src/server/request-state/options.ts", "RequestStateOptions"],
  },
  "result()": { give: result, type: ["src/server/results/results.ts", "ToolResultParts"] },
  "ctx.elicit": {
    give: (options) => ask((ctx) => ctx.elicit("?", new URL("https://example.com"), options)),
    type: ["src/protocol/asking.ts", "UrlAskOptions"],
  },
  "ctx.sample": {
    give: (options) => ask((ctx) => ctx.sample("?", options)),
    type: ["src/protocol/asking.ts", "SampleOptions"],
  },
  "ctx.roots": {
    give: (options) => ask((ctx) => ctx.roots(options)),
    type: ["src/protocol/asking.ts", "AskOptions"],
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
  "connect of halyard/client": {
    give: (options) => connectClient(new McpServer(info), options),
    type: ["src/client/settings/options.ts", "ConnectOptions"],
  },
  "connect of halyard/client, a command": {
    give: connectClient,
    needed: { command: "node" },
    type: ["src/client/settings/options.ts", "CommandTarget"],
  },
  oauth: { give: oauth, type: ["src/client/oauth/settings/options.ts", "OAuthOptions"] },
  clientCredentials: {
    give: clientCredentials,
    needed: registered,
    type: ["src/client/oauth/settings/options.ts", "ClientCredentialsOptions"],
  },
  enterpriseManaged: {
    give: enterpriseManaged,
    needed: registered,
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
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.startTask": {
    give: (options) => withClient((client) => client.startTask("work", {}, options)),
    type: ["src/client/tasks/tasks.ts", "StartTaskOptions"],
  },
  "task.status": {
    give: (options) => withClient(async (client) => (await client.startTask("work")).status(options)),
    type: ["src/client/tasks/handle.ts", "TaskOptions"],
  },
  "task.cancel": {
    give: (options) => withClient(async (client) => (await client.startTask("work")).cancel(options)),
    type: ["src/client/tasks/handle.ts", "TaskOptions"],
  },
  "task.result": {
    give: (options) => withClient(async (client) => (await client.startTask("work")).result(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.complete": {
    give: (options) =>
      withClient((client) =>
        client.complete({ type: "ref/prompt", name: "x" }, { name: "y", value: "" }, options),
      ),
    type: ["src/client/client.ts", "CompleteOptions"],
  },
  "client.listen": {
    give: (filter) => withClient((client) => client.listen(filter)),
    type: ["src/client/listening/filter.ts", "ListenFilter"],
  },
  "client.listen, options": {
    give: (options) => withClient((client) => client.listen({ tools: true }, () => {}, options)),
    type: ["src/client/listening/listening.ts", "ListenOptions"],
  },
  "client.listTools": {
    give: (options) => withClient((client) => client.listTools(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.eachTool": {
    give: (options) => withClient((client) => client.eachTool(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.listPrompts": {
    give: (options) => withClient((client) => client.listPrompts(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.eachPrompt": {
    give: (options) => withClient((client) => client.eachPrompt(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.listResources": {
    give: (options) => withClient((client) => client.listResources(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.eachResource": {
    give: (options) => withClient((client) => client.eachResource(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.listResourceTemplates": {
    give: (options) => withClient((client) => client.listResourceTemplates(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.eachResourceTemplate": {
    give: (options) => withClient((client) => client.eachResourceTemplate(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.readResource": {
    give: (options) => withClient((client) => client.readResource("x:y", options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.getPrompt": {
    give: (options) => withClient((client) => client.getPrompt("x", {}, options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.ping": {
    give: (options) => withClient((client) => client.ping(options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.setLogLevel": {
    give: (options) => withClient((client) => client.setLogLevel("info", options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
  "client.request": {
    give: (options) => withClient((client) => client.request("ping", {}, options)),
    type: ["src/client/settings/options.ts", "CallOptions"],
  },
};

/** What an option holds that is no further options: names of the author's or of the protocol's, schemas, backplanes. */
const opaque = new Set(
  "_meta backplane input output arguments complete requires logger auth jwks scopeHierarchy settings requests listens metadata modelPreferences tools toolChoice structured content meta capabilities remembered servers store privateKey dashboard".split(
    " ",
  ),
);

const program = ts.createProgram(
  [...new Set(Object.values(entryPoints).map(({ type: [file] }) => root + file))],
  { ...configOptions(), noEmit: true },
);
const checker = program.getTypeChecker();

function configOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  return ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
}

/** The paths of all options of a type, those inside others included. */
function pathsOf(entry: string, [file, name]: EntryPoint["type"]): string[] {
  const source = program.getSourceFile(root + file);
  const module = source && checker.getSymbolAtLocation(source);
  const symbol = module && checker.getExportsOfModule(module).find((exported) => exported.name === name);
  if (symbol === undefined) throw new Error(`${file} exports no ${name}`);
  return pathsIn(entry, checker.getDeclaredTypeOfSymbol(symbol), "");
}

function pathsIn(entry: string, type: ts.Type, path: string): string[] {
  return checker.getPropertiesOfType(type).flatMap((property) => {
    const here = path + property.name;
    const isServer = entry === "new McpServer" && here === "capabilities";
    if (opaque.has(property.name) && !isServer) return [here];
    const inner = checker.getTypeOfSymbol(property);
    const parts = inner.isUnion() ? inner.types : [inner];
    const deeper = parts.flatMap((part) => pathsIn(entry, optionsIn(part), `${here}.`));
    return [here].concat(deeper.filter((found, index) => deeper.indexOf(found) === index));
  });
}

const nothing = checker.getUndefinedType();

/** The type of further options that a value of `type` may be, or that a list holds. */
function optionsIn(type: ts.Type): ts.Type {
  if (checker.isArrayType(type)) {
    const [item = nothing] = checker.getTypeArguments(type as ts.TypeReference);
    return optionsIn(item);
  }
  const isRecord = checker.getPropertiesOfType(type).length === 0;
  const isObject = (type.flags & ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0;
  const places = type.symbol?.declarations?.map((place) => place.getSourceFile().fileName) ?? [];
  const isOurs =
    type.aliasSymbol?.name === "Partial" || places.some((file) => file.startsWith(`${root}src/`));
  return isObject && isOurs && !isRecord ? type : nothing;
}

/** The options with one name in them written without its last letter. */
function mistyped(path: string, needed: object = {}): { options: object; field: string } {
  const names = path.split(".");
  const last = names.pop() ?? "";
  const wrong = `${last.slice(0, -1)}_`;
  const inner = names.toReversed().reduce<object>((held, name) => ({ [name]: held }), { [wrong]: undefined });
  return { options: { ...needed, ...inner }, field: [...names, wrong].join(".") };
}

describe.each(Object.entries(entryPoints))("%s", (entry, { give, needed, type }) => {
  const paths = pathsOf(entry, type);

  test("has options", () => {
    expect(paths.length).toBeGreaterThan(0);
  });

  test.each(paths)("%s, mistyped, is refused with the right name", async (path) => {
    const { options, field } = mistyped(path, needed);
    const thrown: unknown = await new Promise((resolve) => resolve(give(options as never))).catch(
      (error: unknown) => error,
    );
    expect(thrown).toMatchObject({ name: "ConfigurationError" });
    const { field: named, message } = thrown as { field: string; message: string };
    expect(named.endsWith(field)).toBe(true);
    expect(message).toContain(`${field} is not an option: did you mean ${path.split(".").at(-1)}?`);
  });

  test.each([null, "text", 3000])("%j in place of its options is refused", async (given) => {
    const outcome = new Promise((resolve) => resolve(give(given as never)));
    await expect(outcome).rejects.toMatchObject({ name: "ConfigurationError" });
  });
});

test("no public type of options is forgotten", () => {
  const api = Object.values(readPublicApi()).flat();
  const named = api.filter(({ name }) => name.endsWith("Options")).map(({ name }) => name);
  const given = new Set(Object.values(entryPoints).map(({ type: [, name] }) => name));
  // Options inside others, whose paths are above; and those by which a transport drives the server for each message.
  const inside = [
    "CorsOptions",
    "IntrospectionOptions",
    "LegacySseOptions",
    "RateLimitOptions",
    "SharedOAuthOptions",
    "TaskOptions",
  ];
  const driving = ["AttachOptions", "ConnectionOptions", "PipeOptions", "ReceiveOptions"];
  const known = new Set([...given, ...inside, ...driving]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("the paths go as deep as the options do", () => {
  const deep = Object.entries(entryPoints).flatMap(([entry, { type }]) =>
    pathsOf(entry, type).map((path) => `${entry} ${path}`),
  );
  expect(deep).toEqual(
    expect.arrayContaining([
      "new McpServer limits.maxBytes",
      "new McpServer tasks.maxRunning",
      "new McpServer capabilities.logging",
      "new McpServer cache.tools/list.ttlMs",
      "new McpServer, info icons.src",
      "serveHttp port",
      "serveHttp cors.origins",
      "serveHttp legacySse.ssePath",
      "nodeHandler rateLimit.perPrincipal.burst",
      "fetchHandler limits.maxSessions",
      "bearerAuth introspection.clientId",
      "server.tool annotations.readOnlyHint",
      "server.tool task.ttlMs",
      "server.resource cache.scope",
      "server.resource annotations.priority",
      "connect of halyard/client backoff.firstMs",
      "connect of halyard/client limits.maxBytes",
      "connect of halyard/client onElicit.form",
      "connect of halyard/client roots.uri",
      "connect of halyard/client, a command env",
      "oauth clientMetadataUrl",
      "enterpriseManaged identityProvider.idToken",
    ]),
  );
});

test("bearerAuth refuses the scope that nobody would have needed", () => {
  const mistake = { ...bearer, requiredScope: ["admin"] };
  expect(() => bearerAuth(mistake as never)).toThrow(
    "bearerAuth: requiredScope is not an option: did you mean requiredScopes?",
  );
});

test("a name that is like none is answered with all of them", () => {
  const given = { origins: [], somethingElseEntirely: 1 };
  expect(() => nodeHandler(new McpServer(info), { cors: given })).toThrow(
    "cors.somethingElseEntirely is not an option: choose from origins",
  );
});

test("a limit that is undefined keeps its default", async () => {
  const limits = { maxBatch: undefined };
  expect(portOf(new McpServer(info, { limits: limits as never })).limits).toEqual(
    portOf(new McpServer(info)).limits,
  );
  const handler = nodeHandler(new McpServer(info), { limits: { maxSessions: undefined } as never });
  await handler.close();
});
