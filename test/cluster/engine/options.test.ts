// What is refused in place of a backplane, and in place of an engine.
import { McpServer } from "halyard";
import { backplaneOf, memoryBackplane } from "halyard/cluster";
import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";

test.each<[string, () => unknown]>([
  ["null", () => null],
  ["a function", () => memoryBackplane],
  ["a promise", () => Promise.resolve(memoryBackplane())],
  ["a client of @redis/client", () => createClient()],
  [
    "a client of ioredis",
    () => {
      const client = new Redis({ lazyConnect: true });
      onTestFinished(() => client.disconnect());
      return client;
    },
  ],
])("a server refuses %s in place of a backplane", (_, make) => {
  const backplane = make() as never;
  expect(() => new McpServer({ name: "test", version: "1.0.0" }, { backplane })).toThrow(
    "server: backplane must be redisBackplane(client) or natsBackplane(connection)",
  );
});

test.each<[string, object, string]>([
  ["no engine", { engine: undefined }, "engine must be the name of the engine"],
  ["no open()", { open: undefined }, "open must be a function"],
  ["no options", { options: undefined }, "options must be an object"],
  ["an unknown option", { options: { leaseMS: 1 } }, "leaseMS is not an option: did you mean leaseMs?"],
  ["a short secret", { options: { secret: "short" } }, "secret must be a text of at least 32 bytes"],
])("backplaneOf refuses a source with %s", (_, changes, problem) => {
  const source = { ...memoryBackplane(), ...changes } as never;
  expect(() => backplaneOf(source)).toThrow(`backplaneOf: ${problem}`);
});
