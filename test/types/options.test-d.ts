// An option that is undefined counts as left out, also for the compiler with exactOptionalPropertyTypes.
import type { McpServer, ServerOptions } from "halyard";
import type { CallOptions, CommandTarget, ConnectOptions, PageOptions } from "halyard/client";
import type { ServeHttpOptions } from "halyard/node";
import { expectTypeOf, test } from "vitest";

/** The type with undefined for everything that may be left out. */
type Undefined<T> = {
  [Name in keyof T]: Pick<T, Name> extends Required<Pick<T, Name>> ? T[Name] : undefined;
};

test("every option can be undefined", () => {
  expectTypeOf<Undefined<ConnectOptions>>().toExtend<ConnectOptions>();
  expectTypeOf<Undefined<CallOptions>>().toExtend<CallOptions>();
  expectTypeOf<Undefined<PageOptions>>().toExtend<PageOptions>();
  expectTypeOf<Undefined<CommandTarget>>().toExtend<CommandTarget>();
  expectTypeOf<Undefined<ServerOptions>>().toExtend<ServerOptions>();
  expectTypeOf<Undefined<ServeHttpOptions>>().toExtend<ServeHttpOptions>();
});

declare const server: McpServer;

test("what describes a tool, a prompt or a resource can be undefined", () => {
  server.tool("t", { description: undefined, annotations: undefined, scopes: undefined }, () => "x");
  server.prompt("p", { description: undefined, title: undefined }, () => "x");
  server.resource("note:///r", { name: "r", description: undefined, mimeType: undefined }, () => "x");
});
