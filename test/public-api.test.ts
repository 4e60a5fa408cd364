// What each entry of the package exports, so that a change of it is a decision, and that all of it is documented.
import { McpServer } from "halyard";
import { describe, expect, test } from "vitest";
import { declarationProblems, entries, readPublicApi } from "./support/public-api.ts";

const api = readPublicApi();

function names(entry: keyof typeof api, isWanted: (kind: string) => boolean): string[] {
  return api[entry].filter(({ kind }) => isWanted(kind)).map(({ name }) => name);
}

describe("public entries", () => {
  test("halyard exports these values and types", () => {
    expect(names("halyard", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "ConfigurationError",
        "HalyardError",
        "InputCancelled",
        "InputDeclined",
        "InputPending",
        "InputRequired",
        "McpServer",
        "ProtocolError",
        "ResourceNotFoundError",
        "ToolError",
        "ToolResult",
        "UriTemplate",
        "UrlElicitationRequired",
        "audio",
        "errorCodes",
        "image",
        "inputRequired",
        "result",
        "text",
      ]
    `);
    expect(names("halyard", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "AnySchema",
        "AskOptions",
        "AudioContent",
        "Backplane",
        "CallToolResult",
        "ClientCapabilities",
        "ClusterNode",
        "ClusterView",
        "Collection",
        "CompletionHandler",
        "ContentBlock",
        "Context",
        "Elicited",
        "EmbeddedResource",
        "Extension",
        "GetPromptResult",
        "HalyardErrorCode",
        "Handle",
        "Icon",
        "ImageContent",
        "Implementation",
        "IncomingRequest",
        "InputRequest",
        "JsonObject",
        "JsonSchema",
        "LogLevel",
        "Logger",
        "MethodDefinition",
        "MethodMiddleware",
        "Middleware",
        "NotificationSource",
        "Principal",
        "Prompt",
        "PromptDefinition",
        "PromptHandler",
        "PromptMessage",
        "PromptReturn",
        "Push",
        "ReadResourceResult",
        "RequestHandler",
        "RequestId",
        "RequestKinds",
        "RequestStateOptions",
        "Resource",
        "ResourceCollection",
        "ResourceContents",
        "ResourceDefinition",
        "ResourceHandler",
        "ResourceLink",
        "ResourceReturn",
        "ResourceTemplate",
        "Root",
        "SampleOptions",
        "Sampled",
        "SamplingContent",
        "SamplingMessage",
        "SamplingTool",
        "Servable",
        "ServerCapabilities",
        "ServerEvent",
        "ServerLimits",
        "ServerMode",
        "ServerOptions",
        "SessionEnd",
        "StandardSchema",
        "StructuredReturn",
        "TemplateDefinition",
        "TemplateHandler",
        "TemplateParams",
        "TextContent",
        "Tool",
        "ToolAnnotations",
        "ToolDefinition",
        "ToolHandler",
        "ToolReturn",
        "ToolSchema",
      ]
    `);
  });

  test("halyard exports what authors use: at most 100 names", () => {
    expect(api.halyard.length).toBeLessThanOrEqual(100);
  });

  test("halyard/transport exports these values and types", () => {
    expect(names("halyard/transport", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "Connection",
        "Pipe",
        "portOf",
        "readIncoming",
      ]
    `);
    expect(names("halyard/transport", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "Answer",
        "Answering",
        "AttachOptions",
        "ConnectionOptions",
        "Detach",
        "Exchange",
        "Incoming",
        "Listener",
        "Load",
        "Loads",
        "ParamHeader",
        "PipeOptions",
        "PipeOutput",
        "ReadMessage",
        "ReceiveOptions",
        "RequestRow",
        "Revision",
        "RpcError",
        "RpcFailure",
        "RpcMessage",
        "RpcNotification",
        "RpcRequest",
        "RpcResponse",
        "RpcSuccess",
        "ServerPort",
        "SpokenRevisions",
        "Stream",
      ]
    `);
  });

  test("an McpServer shows what an author may want, and nothing that only transports need", () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const members = [...Object.keys(server), ...Object.getOwnPropertyNames(McpServer.prototype)];
    expect(members.toSorted()).toMatchInlineSnapshot(`
      [
        "capabilities",
        "cluster",
        "completion",
        "constructor",
        "extension",
        "handle",
        "handleRaw",
        "info",
        "log",
        "method",
        "onInitialized",
        "onNotification",
        "onRootsChanged",
        "onSessionClosed",
        "openWire",
        "prompt",
        "prompts",
        "push",
        "resource",
        "resourceTemplate",
        "resourceTemplates",
        "resources",
        "secureRequestState",
        "tool",
        "toolInputSchema",
        "tools",
        "use",
      ]
    `);
  });

  test("what a module exports without writing its type can be named in its declarations", async () => {
    expect(await declarationProblems("test/types/fixtures/inferred-exports.ts")).toEqual([]);
  });

  test("halyard/node exports these values and types", () => {
    expect(names("halyard/node", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "defaultCallerLimits",
        "defaultHttpLimits",
        "nodeHandler",
        "nodeSite",
        "serveHttp",
      ]
    `);
    expect(names("halyard/node", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "CallerLimits",
        "CorsOptions",
        "EndpointDashboard",
        "HttpLimits",
        "HttpOptions",
        "HttpRequest",
        "HttpServer",
        "HttpStats",
        "LegacySseOptions",
        "NodeHandler",
        "NodeSiteHandler",
        "RateLimitOptions",
        "ServeHttpOptions",
        "ServedEndpoint",
        "Site",
        "SiteBody",
        "SiteBodyLimits",
        "SiteReply",
        "SiteRequest",
      ]
    `);
  });

  test("halyard/fetch exports these values and types", () => {
    expect(names("halyard/fetch", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "defaultCallerLimits",
        "defaultHttpLimits",
        "fetchHandler",
        "fetchSite",
      ]
    `);
    expect(names("halyard/fetch", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "CallerLimits",
        "CorsOptions",
        "EndpointDashboard",
        "FetchHandler",
        "FetchSiteHandler",
        "HttpLimits",
        "HttpOptions",
        "HttpRequest",
        "HttpStats",
        "LegacySseOptions",
        "RateLimitOptions",
        "ServedEndpoint",
        "Site",
        "SiteBody",
        "SiteBodyLimits",
        "SiteReply",
        "SiteRequest",
      ]
    `);
  });

  test("halyard/auth exports these values and types", () => {
    expect(names("halyard/auth", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "bearerAuth",
        "developmentIssuer",
      ]
    `);
    expect(names("halyard/auth", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "Auth",
        "AuthRefusal",
        "Authenticate",
        "Authenticated",
        "BearerAuthOptions",
        "DevelopmentIssuer",
        "DevelopmentIssuerOptions",
        "DevelopmentTokenOptions",
        "EndpointPlace",
        "IntrospectionOptions",
        "RequestHead",
        "TokenClaims",
      ]
    `);
  });

  test("halyard/stdio exports these values and types", () => {
    expect(names("halyard/stdio", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "serveStdio",
      ]
    `);
    expect(names("halyard/stdio", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "StdioOptions",
        "StdioServer",
      ]
    `);
  });

  test("halyard/redis exports these values and types", () => {
    expect(names("halyard/redis", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "redisBackplane",
      ]
    `);
    expect(names("halyard/redis", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "Backplane",
        "BackplaneOptions",
        "RedisClient",
      ]
    `);
  });

  test("halyard/nats exports these values and types", () => {
    expect(names("halyard/nats", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "natsBackplane",
      ]
    `);
    expect(names("halyard/nats", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "NatsConnection",
        "NatsMessage",
        "NatsSubscription",
      ]
    `);
  });

  test("halyard/client exports these values and types", () => {
    expect(names("halyard/client", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "AuthRequired",
        "CallTimeout",
        "CannotStart",
        "ConfigurationError",
        "ConnectionLost",
        "HalyardError",
        "HttpFailure",
        "InputCancelled",
        "InputDeclined",
        "InvalidResponse",
        "McpClient",
        "McpClients",
        "NoCommonRevision",
        "OutputMismatch",
        "ProtocolError",
        "RpcRejection",
        "TaskEnded",
        "ToolCallError",
        "chooseModel",
        "connect",
        "connectAll",
        "defaultClientLimits",
        "isInputRequired",
      ]
    `);
    expect(names("halyard/client", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "AnyTools",
        "AuthOption",
        "AuthRefusal",
        "AuthReply",
        "AuthRequest",
        "Backoff",
        "BooleanField",
        "CallOptions",
        "CallSettings",
        "CallToolResult",
        "Change",
        "ChangeKind",
        "ClientAuth",
        "ClientEvent",
        "ClientLimits",
        "ClientMiddleware",
        "ClientRequest",
        "ClientRequestEvent",
        "ClientState",
        "CommandTarget",
        "CompleteOptions",
        "CompleteResult",
        "ConnectAllOptions",
        "ConnectOptions",
        "ContentBlock",
        "ElicitAnswer",
        "ElicitOption",
        "FormChoice",
        "FormField",
        "FormQuestion",
        "FormSchema",
        "FromServer",
        "GetPromptResult",
        "HalyardErrorCode",
        "HeaderFields",
        "IgnoredEvent",
        "Implementation",
        "InputRequest",
        "InputRequiredResult",
        "JsonObject",
        "ListField",
        "ListKind",
        "ListPage",
        "ListenFilter",
        "ListenOptions",
        "Listening",
        "LogEntry",
        "LogLevel",
        "LossReason",
        "MismatchEvent",
        "ModelPreferences",
        "NotificationHandlers",
        "NumberField",
        "OnChange",
        "OnElicit",
        "OnSample",
        "OnServerChange",
        "PageOptions",
        "Progress",
        "Prompt",
        "QuestionContext",
        "QuestionEvent",
        "ReadResourceResult",
        "RecordedLine",
        "Reissue",
        "Remembered",
        "RememberedTool",
        "RequestHandlers",
        "Resource",
        "ResourceTemplate",
        "RetryEvent",
        "Root",
        "RootsOption",
        "SampleAnswer",
        "SampleOption",
        "SampleQuestion",
        "SamplingContent",
        "SamplingMessage",
        "ServerCallOptions",
        "ServerCapabilities",
        "ServerEntry",
        "ServerOutcome",
        "ServerTargets",
        "ServerTool",
        "ServerTools",
        "ServersFile",
        "ServersFilter",
        "ServersListening",
        "StartTaskOptions",
        "StateEvent",
        "StateName",
        "StderrEvent",
        "StoredTask",
        "StreamEvent",
        "Target",
        "TaskEndReason",
        "TaskHandle",
        "TaskOptions",
        "TaskState",
        "TaskStatus",
        "TextField",
        "TimeLimit",
        "Tool",
        "ToolArguments",
        "ToolResultOf",
        "ToolSchema",
        "ToolType",
        "ToolTypes",
        "UnhandledEvent",
        "UrlQuestion",
        "Wire",
        "WireSource",
      ]
    `);
  });

  test("halyard/client/oauth exports these values and types", () => {
    expect(names("halyard/client/oauth", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "OAuthError",
        "clientCredentials",
        "enterpriseManaged",
        "fileStore",
        "finishSignIn",
        "memoryStore",
        "oauth",
        "workloadIdentity",
      ]
    `);
    expect(names("halyard/client/oauth", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "ClientCredentialsOptions",
        "ClientKey",
        "ClientProof",
        "EnterpriseManagedOptions",
        "IdentityProvider",
        "OAuth",
        "OAuthOptions",
        "OAuthProblem",
        "OpenOption",
        "SharedOAuthOptions",
        "TextSource",
        "TokenStore",
        "WorkloadIdentityOptions",
      ]
    `);
  });

  test("halyard/dashboard exports these values and types", () => {
    expect(names("halyard/dashboard", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "dashboard",
      ]
    `);
    expect(names("halyard/dashboard", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "Dashboard",
        "DashboardOptions",
      ]
    `);
  });

  test("halyard/window exports these values and types", () => {
    expect(names("halyard/window", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "describePeer",
        "textWithoutSecrets",
        "windowOf",
        "withoutSecrets",
      ]
    `);
    expect(names("halyard/window", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "AnswerTaker",
        "AroundCall",
        "AroundHook",
        "AskEvent",
        "CallEnd",
        "CallView",
        "Follow",
        "FollowOptions",
        "Followed",
        "FollowedCall",
        "FollowedEvent",
        "FollowedItem",
        "FollowedMessage",
        "FollowedStream",
        "FollowedStreamRef",
        "Follower",
        "GapEvent",
        "IntroductionTaker",
        "KnownPeer",
        "MergeEvent",
        "NodeAnswerer",
        "NodeView",
        "Observer",
        "PeerEnd",
        "PeerView",
        "PushEvent",
        "RecentCalls",
        "RefusalEvent",
        "RequestEvent",
        "ServerEvent",
        "ServerWindow",
        "SessionEvent",
        "SessionView",
        "SnapshotOptions",
        "SnapshotPage",
        "StreamView",
        "SubscriptionView",
        "TaskEvent",
        "TaskView",
        "ToolView",
        "Views",
        "WindowCounts",
        "WindowNodes",
        "WindowServer",
      ]
    `);
  });

  test("halyard/testing exports these values and types", () => {
    expect(names("halyard/testing", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "RpcRejection",
        "TestClient",
        "backplaneContract",
        "connect",
        "protocolRevisions",
        "questionsIn",
        "replay",
        "retryOf",
      ]
    `);
    expect(names("halyard/testing", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "ConnectOptions",
        "Question",
        "RawRequestOptions",
        "Received",
        "Respond",
        "StoreCheck",
        "Wire",
      ]
    `);
  });
});

describe.each(entries)("%s", (entry) => {
  test("the built entry exports the values that the source declares", async () => {
    const built = Object.keys((await import(entry)) as object);
    expect(built.toSorted()).toEqual(names(entry, (kind) => kind !== "type").toSorted());
  });

  test("every class is called what it is exported as, since logs and editors show that name", async () => {
    const built = (await import(entry)) as Record<string, { name: string }>;
    const classes = names(entry, (kind) => kind === "class");
    expect(classes.map((name) => built[name]?.name)).toEqual(classes);
  });

  test("every export has a doc comment with a sentence", () => {
    const undocumented = api[entry].filter(({ summary }) => !/\w+.*[.:]/s.test(summary));
    expect(undocumented.map(({ name }) => name)).toEqual([]);
  });

  test("every function and class has an example", () => {
    const callable = api[entry].filter(({ kind }) => kind === "function" || kind === "class");
    expect(callable.filter(({ examples }) => examples.length === 0).map(({ name }) => name)).toEqual([]);
  });
});
