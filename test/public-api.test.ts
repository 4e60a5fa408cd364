// What each entry of the package exports, so that a change of it is a decision, and that all of it is documented.
import { describe, expect, test } from "vitest";
import { entries, readPublicApi } from "./support/public-api.ts";

const api = readPublicApi();

function names(entry: keyof typeof api, isWanted: (kind: string) => boolean): string[] {
  return api[entry].filter(({ kind }) => isWanted(kind)).map(({ name }) => name);
}

describe("public entries", () => {
  test("halyard exports these values and types", () => {
    expect(names("halyard", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "ConfigurationError",
        "Connection",
        "HalyardError",
        "InputCancelled",
        "InputDeclined",
        "InputPending",
        "InputRequired",
        "McpServer",
        "MemorySingleUseStore",
        "MemoryTaskStore",
        "Pipe",
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
        "readIncoming",
        "result",
        "text",
      ]
    `);
    expect(names("halyard", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "Annotations",
        "Answer",
        "Answering",
        "AnySchema",
        "AskEvent",
        "AskOptions",
        "AttachOptions",
        "AudioContent",
        "CacheHint",
        "CallToolResult",
        "ClientCapabilities",
        "ClientNotificationHandler",
        "Collection",
        "CompleteResult",
        "Completer",
        "CompletionHandler",
        "CompletionReference",
        "CompletionRequest",
        "ConnectionOptions",
        "ContentBlock",
        "Context",
        "Detach",
        "Elicited",
        "EmbeddedResource",
        "Exchange",
        "Extension",
        "ExtensionListen",
        "ExtensionMethod",
        "ExtensionRequest",
        "GetPromptResult",
        "HalyardErrorCode",
        "Handle",
        "HandlerErrorEvent",
        "Icon",
        "ImageContent",
        "Implementation",
        "Incoming",
        "IncomingRequest",
        "InputRequest",
        "InputRequiredParts",
        "JsonObject",
        "JsonSchema",
        "ListMethod",
        "ListedResource",
        "Listener",
        "ListenerEvent",
        "Load",
        "Loads",
        "LogLevel",
        "LogOptions",
        "Logger",
        "MemoryTaskStoreOptions",
        "MessageLimits",
        "MethodDefinition",
        "MethodMiddleware",
        "Middleware",
        "ModelPreferences",
        "Next",
        "NotificationSource",
        "PipeOptions",
        "PipeOutput",
        "Principal",
        "Prompt",
        "PromptDefinition",
        "PromptHandler",
        "PromptMessage",
        "PromptReturn",
        "Push",
        "PushEvent",
        "ReadMessage",
        "ReadResourceResult",
        "ReceiveOptions",
        "RefusalEvent",
        "RequestEvent",
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
        "RpcError",
        "RpcFailure",
        "RpcMessage",
        "RpcNotification",
        "RpcRequest",
        "RpcResponse",
        "RpcSuccess",
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
        "ShownErrors",
        "SingleUseStore",
        "StandardSchema",
        "Stream",
        "StructuredReturn",
        "Suggestions",
        "TaskChange",
        "TaskDefinition",
        "TaskEvent",
        "TaskOptions",
        "TaskQuery",
        "TaskRecord",
        "TaskStatus",
        "TaskStore",
        "TaskSupport",
        "TemplateDefinition",
        "TemplateHandler",
        "TemplateParams",
        "TemplateValue",
        "TextContent",
        "ToJsonSchema",
        "Tool",
        "ToolAnnotations",
        "ToolDefinition",
        "ToolHandler",
        "ToolResultContent",
        "ToolResultParts",
        "ToolReturn",
        "ToolUseContent",
        "UrlAskOptions",
        "UrlElicitation",
      ]
    `);
  });

  test("halyard/node exports these values and types", () => {
    expect(names("halyard/node", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "MemorySessionStore",
        "defaultCallerLimits",
        "defaultHttpLimits",
        "nodeHandler",
        "serveHttp",
      ]
    `);
    expect(names("halyard/node", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "CallerLimits",
        "CorsOptions",
        "HttpLimits",
        "HttpOptions",
        "HttpRequest",
        "HttpServer",
        "HttpStats",
        "LegacySseOptions",
        "NodeHandler",
        "RateLimitOptions",
        "ServeHttpOptions",
        "SessionRecord",
        "SessionStore",
      ]
    `);
  });

  test("halyard/fetch exports these values and types", () => {
    expect(names("halyard/fetch", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "MemorySessionStore",
        "defaultCallerLimits",
        "defaultHttpLimits",
        "fetchHandler",
      ]
    `);
    expect(names("halyard/fetch", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "CallerLimits",
        "CorsOptions",
        "FetchHandler",
        "HttpLimits",
        "HttpOptions",
        "HttpRequest",
        "HttpStats",
        "LegacySseOptions",
        "RateLimitOptions",
        "SessionRecord",
        "SessionStore",
      ]
    `);
  });

  test("halyard/auth exports these values and types", () => {
    expect(names("halyard/auth", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "bearerAuth",
      ]
    `);
    expect(names("halyard/auth", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "Auth",
        "AuthRefusal",
        "Authenticate",
        "Authenticated",
        "BearerAuthOptions",
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

  test("halyard/testing exports these values and types", () => {
    expect(names("halyard/testing", (kind) => kind !== "type")).toMatchInlineSnapshot(`
      [
        "RpcRejection",
        "TestClient",
        "connect",
        "protocolRevisions",
        "questionsIn",
        "retryOf",
        "sessionStoreContract",
        "singleUseStoreContract",
        "taskStoreContract",
      ]
    `);
    expect(names("halyard/testing", (kind) => kind === "type")).toMatchInlineSnapshot(`
      [
        "ConnectOptions",
        "Question",
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

  test("every export has a doc comment with a sentence", () => {
    const undocumented = api[entry].filter(({ summary }) => !/\w+.*[.:]/s.test(summary));
    expect(undocumented.map(({ name }) => name)).toEqual([]);
  });

  test("every function and class has an example", () => {
    const callable = api[entry].filter(({ kind }) => kind === "function" || kind === "class");
    expect(callable.filter(({ examples }) => examples.length === 0).map(({ name }) => name)).toEqual([]);
  });
});
