// The tables of docs/reference/limits.md: which options and constants of the source each has, and how its options are set.

/** The members of an interface, or of an object of constants. */
export interface Members {
  readonly file: string;
  readonly of: string;
  /** What stands before the name of each option, such as `limits.`. */
  readonly prefix?: string;
  /** Those to list; without it, all that have a number as their default. */
  readonly only?: readonly string[];
}

/** Constants of a file. They are fixed. */
export interface Constants {
  readonly file: string;
  readonly constants: readonly string[];
}

export interface Section {
  readonly heading: string;
  readonly intro: string;
  readonly rows: readonly (Members | Constants)[];
}

export const sections: readonly Section[] = [
  {
    heading: "Server",
    intro:
      "Options of `new McpServer`; they hold on every transport. [How limits are counted](../explanation/limits.md) says what weighs how much, and for whom.",
    rows: [
      { file: "base/wire/limits.ts", of: "MessageLimits", prefix: "limits." },
      { file: "server/settings/limits.ts", of: "ServerLimits", prefix: "limits." },
      { file: "server/settings/options.ts", of: "CoreOptions" },
      { file: "protocol/uri.ts", constants: ["maxUriLength"] },
      { file: "base/wire/message.ts", constants: ["maxIdLength"] },
      { file: "server/methods/handshake.ts", constants: ["maxClientLength"] },
      { file: "server/catalogue/tools.ts", constants: ["maxNameLength"] },
      { file: "server/methods/completion.ts", constants: ["maxValues"] },
      { file: "cluster/engine/engine.ts", constants: ["maxEntryBytes"] },
      { file: "protocol/schema/json-schema/budget.ts", constants: ["validateSteps"] },
      { file: "protocol/schema/json-schema/pattern.ts", constants: ["nativeLimit"] },
    ],
  },
  {
    heading: "Tool",
    intro: "Fields of the definition of a tool.",
    rows: [
      { file: "server/catalogue/tool-limits.ts", of: "ToolLimits", only: ["timeoutMs", "maxConcurrent"] },
    ],
  },
  {
    heading: "Tasks",
    intro:
      "Options of `new McpServer`. With a `backplane`, the limits of a principal hold for all nodes together, except `maxRunningPerPrincipal`.",
    rows: [
      {
        file: "server/tasks/options.ts",
        of: "TaskOptions",
        prefix: "tasks.",
        only: [
          "ttlMs",
          "maxTtlMs",
          "maxRunning",
          "maxRunningPerPrincipal",
          "maxTasks",
          "maxTasksPerPrincipal",
          "maxSize",
          "maxSizePerPrincipal",
        ],
      },
    ],
  },
  {
    heading: "Request state",
    intro: "Options of `server.secureRequestState`.",
    rows: [
      {
        file: "server/request-state/options.ts",
        of: "RequestStateOptions",
      },
    ],
  },
  {
    heading: "Stdio",
    intro: "Options of `serveStdio`.",
    rows: [
      { file: "transports/stdio/index.ts", of: "StdioOptions" },
      { file: "transports/stdio/stdout.ts", constants: ["highWater"] },
    ],
  },
  {
    heading: "HTTP",
    intro: "Options of `serveHttp`, `nodeHandler` and `fetchHandler`; `defaultHttpLimits` has the defaults.",
    rows: [
      { file: "server/session/limits.ts", of: "SessionLimits", prefix: "limits." },
      { file: "transports/http/limits.ts", of: "StreamLogLimits", prefix: "limits." },
      { file: "transports/http/streams/listens.ts", of: "ListenLimits", prefix: "limits." },
      { file: "transports/http/limits.ts", of: "HttpLimits", prefix: "limits." },
    ],
  },
  {
    heading: "Times of HTTP",
    intro: "Options of `serveHttp`, `nodeHandler` and `fetchHandler`.",
    rows: [
      {
        file: "transports/http/options.ts",
        of: "HttpOptions",
        only: [
          "streamAfterMs",
          "keepAliveMs",
          "maxStreamMs",
          "retryMs",
          "resumeWindowMs",
          "stallMs",
          "graceMs",
        ],
      },
    ],
  },
  {
    heading: "Rate limits",
    intro:
      "Set them with `rateLimit: { perPrincipal, perAddress }` of `serveHttp`, `nodeHandler` and `fetchHandler`; `false` turns them off, `Infinity` is no limit, and `defaultCallerLimits` has the defaults. They apply to each principal if you set `auth`, and to each address if you set `trustProxy` or `perAddress`. Without these options, a server counts nothing.",
    rows: [{ file: "transports/http/rate-limit-options.ts", of: "CallerLimits" }],
  },
  {
    heading: "Authorization",
    intro:
      "Options of `bearerAuth`; the last two rows hold for `auth` of your own and for `developmentIssuer`.",
    rows: [
      { file: "auth/options.ts", of: "BearerAuthOptions" },
      { file: "auth/bearer.ts", constants: ["maxTokenLength"] },
      { file: "auth/jwt.ts", constants: ["maxTries"] },
      { file: "auth/authorization-server.ts", constants: ["maxBytes"] },
      {
        file: "auth/introspection.ts",
        of: "IntrospectionOptions",
        prefix: "introspection.",
      },
      { file: "auth/introspection.ts", constants: ["maxAsking", "maxKept"] },
      { file: "auth/authenticate.ts", constants: ["maxBodyLength"] },
      { file: "auth/development.ts", constants: ["longestSeconds"] },
    ],
  },
  {
    heading: "Cluster",
    intro: "Options of every [backplane](backplane.md).",
    rows: [
      { file: "cluster/engine/engine.ts", of: "BackplaneOptions" },
      { file: "cluster/engine/engine.ts", constants: ["maxLogEntries", "maxLogBytes"] },
    ],
  },
  {
    heading: "Client",
    intro:
      "Options of `connect`: what a server can make a client hold. `defaultClientLimits` has the defaults of `limits`.",
    rows: [
      { file: "client/settings/limits.ts", of: "ClientLimits", prefix: "limits." },
      { file: "client/answering/requested-form.ts", constants: ["maxFields"] },
      { file: "client/catalogue/output-check.ts", constants: ["maxSchemaElements"] },
      { file: "client/tool-names.ts", constants: ["maxLength", "maxServerName"] },
      { file: "client/listening/filter.ts", constants: ["maxUri"] },
      { file: "client/http/event-stream.ts", constants: ["maxIdLength"] },
      { file: "client/http/requester.ts", constants: ["maxRedirects"] },
      { file: "client/http/failure.ts", constants: ["maxExcerpt"] },
      { file: "client/oauth/net/net.ts", constants: ["maxBytes"] },
      { file: "client/oauth/platform/node-file-store.ts", constants: ["maxFileBytes"] },
    ],
  },
  {
    heading: "Times of a client",
    intro:
      "Options of `connect`. Each call takes `timeoutMs` and `maxTimeMs` too; `graceMs` is an option of a command, and `signInTimeoutMs` of `oauth`.",
    rows: [
      { file: "client/settings/call-options.ts", of: "CallSettings" },
      { file: "client/settings/options.ts", of: "ConnectOptions" },
      { file: "client/settings/limits.ts", of: "Backoff", prefix: "backoff." },
      { file: "client/settings/command.ts", of: "CommandTarget" },
      { file: "client/oauth/settings/options.ts", of: "OAuthOptions" },
    ],
  },
  {
    heading: "Dashboard",
    intro: "[`dashboard()`](../guides/dashboard.md) checks these before it answers a question.",
    rows: [
      { file: "dashboard/options.ts", constants: ["minToken", "longestHistory"] },
      { file: "dashboard/http/token.ts", constants: ["maxGuesses", "maxGuessers"] },
      { file: "dashboard/http/site.ts", constants: ["maxQuestionBytes", "maxAsking"] },
      { file: "dashboard/http/questions.ts", constants: ["maxText", "maxEntries"] },
      { file: "dashboard/platform/node.ts", constants: ["maxConnections"] },
    ],
  },
  {
    heading: "What a dashboard samples",
    intro: "It samples from the first question of its page until ten seconds after the last one.",
    rows: [
      { file: "dashboard/answers.ts", constants: ["maxRows"] },
      { file: "dashboard/sampling/series.ts", constants: ["keptSeconds"] },
      { file: "window/inside/recent-calls.ts", constants: ["keptSeconds"] },
      { file: "dashboard/sampling/samples.ts", constants: ["maxPerSecond"] },
      { file: "dashboard/sampling/tools.ts", constants: ["maxRows"] },
      {
        file: "dashboard/sampling/kept-calls.ts",
        constants: ["maxCalls", "maxFailed", "maxPerSecond", "maxRead", "maxText", "maxTexts"],
      },
      { file: "dashboard/sampling/seen-clients.ts", constants: ["maxClients"] },
      { file: "dashboard/sampling/refusals.ts", constants: ["maxReasons"] },
      { file: "dashboard/sampling/pushes.ts", constants: ["maxTopics", "maxPushes"] },
    ],
  },
  {
    heading: "Timelines of a dashboard",
    intro: "On each node, and only for clients that somebody follows, or with `history`.",
    rows: [
      { file: "dashboard/following/limits.ts", of: "followingLimits" },
      { file: "dashboard/following/track.ts", constants: ["maxText"] },
    ],
  },
];
