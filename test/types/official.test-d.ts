// What was written for the official SDK, of both versions, can be passed on here.
import type { ServerCapabilities as V2 } from "@modelcontextprotocol/client";
import type { ServerCapabilities as V1 } from "@modelcontextprotocol/sdk/types.js";
import type { ServerOptions } from "halyard";
import { expectTypeOf, test } from "vitest";

test("the official capabilities of a server are options here", () => {
  expectTypeOf<V1>().toExtend<NonNullable<ServerOptions["capabilities"]>>();
  expectTypeOf<V2>().toExtend<NonNullable<ServerOptions["capabilities"]>>();
});
