// An option that is undefined counts as left out, also for the compiler with exactOptionalPropertyTypes.
import type { AskOptions, McpServer, RequestStateOptions, SampleOptions, ServerOptions } from "halyard";
import type * as auth from "halyard/auth";
import type * as clients from "halyard/client";
import type * as oauth from "halyard/client/oauth";
import type { BackplaneOptions } from "halyard/cluster";
import type { DashboardOptions } from "halyard/dashboard";
import type {
  CallerLimits,
  CorsOptions,
  LegacySseOptions,
  RateLimitOptions,
  ServeHttpOptions,
} from "halyard/node";
import type { StdioOptions } from "halyard/stdio";
import type { ConnectOptions as TestOptions, RawRequestOptions } from "halyard/testing";
import { expectTypeOf, test } from "vitest";

/** The type with undefined for everything that may be left out. */
type Undefined<T> = {
  [Name in keyof T]: Pick<T, Name> extends Required<Pick<T, Name>> ? T[Name] : undefined;
};

test("every option of a server can be undefined", () => {
  expectTypeOf<Undefined<ServerOptions>>().toExtend<ServerOptions>();
  expectTypeOf<Undefined<NonNullable<ServerOptions["tasks"]>>>().toExtend<
    NonNullable<ServerOptions["tasks"]>
  >();
  expectTypeOf<Undefined<RequestStateOptions>>().toExtend<RequestStateOptions>();
  expectTypeOf<Undefined<AskOptions>>().toExtend<AskOptions>();
  expectTypeOf<Undefined<SampleOptions>>().toExtend<SampleOptions>();
  expectTypeOf<Undefined<BackplaneOptions>>().toExtend<BackplaneOptions>();
  expectTypeOf<Undefined<ServeHttpOptions>>().toExtend<ServeHttpOptions>();
  expectTypeOf<Undefined<CorsOptions>>().toExtend<CorsOptions>();
  expectTypeOf<Undefined<LegacySseOptions>>().toExtend<LegacySseOptions>();
  expectTypeOf<Undefined<RateLimitOptions>>().toExtend<RateLimitOptions>();
  expectTypeOf<Undefined<CallerLimits>>().toExtend<CallerLimits>();
  expectTypeOf<Undefined<StdioOptions>>().toExtend<StdioOptions>();
  expectTypeOf<Undefined<DashboardOptions>>().toExtend<DashboardOptions>();
  expectTypeOf<Undefined<auth.BearerAuthOptions>>().toExtend<auth.BearerAuthOptions>();
  expectTypeOf<Undefined<auth.IntrospectionOptions>>().toExtend<auth.IntrospectionOptions>();
  expectTypeOf<Undefined<auth.DevelopmentIssuerOptions>>().toExtend<auth.DevelopmentIssuerOptions>();
  expectTypeOf<Undefined<auth.DevelopmentTokenOptions>>().toExtend<auth.DevelopmentTokenOptions>();
  expectTypeOf<Undefined<auth.AuthRefusal>>().toExtend<auth.AuthRefusal>();
});

test("every option of a client can be undefined", () => {
  expectTypeOf<Undefined<clients.ConnectOptions>>().toExtend<clients.ConnectOptions>();
  expectTypeOf<Undefined<clients.ConnectAllOptions>>().toExtend<clients.ConnectAllOptions>();
  expectTypeOf<Undefined<clients.CallOptions>>().toExtend<clients.CallOptions>();
  expectTypeOf<Undefined<clients.ServerCallOptions>>().toExtend<clients.ServerCallOptions>();
  expectTypeOf<Undefined<clients.PageOptions>>().toExtend<clients.PageOptions>();
  expectTypeOf<Undefined<clients.ListenOptions>>().toExtend<clients.ListenOptions>();
  expectTypeOf<Undefined<clients.ListenFilter>>().toExtend<clients.ListenFilter>();
  expectTypeOf<Undefined<clients.ServersFilter>>().toExtend<clients.ServersFilter>();
  expectTypeOf<Undefined<clients.CompleteOptions>>().toExtend<clients.CompleteOptions>();
  expectTypeOf<Undefined<clients.StartTaskOptions>>().toExtend<clients.StartTaskOptions>();
  expectTypeOf<Undefined<clients.TaskOptions>>().toExtend<clients.TaskOptions>();
  expectTypeOf<Undefined<clients.CommandTarget>>().toExtend<clients.CommandTarget>();
  expectTypeOf<Undefined<clients.SampleAnswer>>().toExtend<clients.SampleAnswer>();
  expectTypeOf<Undefined<oauth.OAuthOptions>>().toExtend<oauth.OAuthOptions>();
  expectTypeOf<Undefined<oauth.ClientCredentialsOptions>>().toExtend<oauth.ClientCredentialsOptions>();
  expectTypeOf<Undefined<oauth.EnterpriseManagedOptions>>().toExtend<oauth.EnterpriseManagedOptions>();
  expectTypeOf<Undefined<oauth.WorkloadIdentityOptions>>().toExtend<oauth.WorkloadIdentityOptions>();
  expectTypeOf<Undefined<TestOptions>>().toExtend<TestOptions>();
  expectTypeOf<Undefined<RawRequestOptions>>().toExtend<RawRequestOptions>();
});

test("options of one server fit several", () => {
  expectTypeOf<clients.ConnectOptions>().toExtend<clients.ConnectAllOptions>();
  expectTypeOf<clients.CallOptions>().toExtend<clients.ServerCallOptions>();
});

declare const server: McpServer;

test("what describes a tool, a prompt or a resource can be undefined", () => {
  server.tool("t", { description: undefined, annotations: undefined, scopes: undefined }, () => "x");
  server.prompt("p", { description: undefined, title: undefined }, () => "x");
  server.resource("note:///r", { name: "r", description: undefined, mimeType: undefined }, () => "x");
});
