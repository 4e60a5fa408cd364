// Every option of every entry point, read from its type and misspelled: each is refused, and the error names the right one.
import { McpServer } from "halyard";
import { bearerAuth } from "halyard/auth";
import { nodeHandler } from "halyard/node";
import { portOf } from "halyard/transport";
import { describe, expect, test } from "vitest";
import { bearer, entryPoints, info } from "./support/entry-points.ts";
import { optionsOf, refusalOf, withOption } from "./support/option-paths.ts";
import { readPublicApi } from "./support/public-api.ts";

describe.each(Object.entries(entryPoints))("%s", (entry, entryPoint) => {
  const options = optionsOf(entry);

  test("has options", () => {
    expect(options.length).toBeGreaterThan(0);
  });

  test.each(options)("$path, mistyped, is refused with the right name", async (option) => {
    const names = option.path.split(".");
    const last = names.pop() ?? "";
    const wrong = `${last.slice(0, -1)}_`;
    const given = withOption(option, () => {}, entryPoint.needed, wrong);
    const thrown = await refusalOf(entryPoint, given);
    const field = [...names, wrong].join(".");
    expect(thrown).toMatchObject({ name: "ConfigurationError" });
    const { field: named, message } = thrown as { field: string; message: string };
    expect(named.endsWith(field)).toBe(true);
    expect(message).toContain(`${field} is not an option: did you mean ${last}?`);
  });

  test.each([null, "text", 3000])("%j in place of its options is refused", async (given) => {
    expect(await refusalOf(entryPoint, given)).toMatchObject({ name: "ConfigurationError" });
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
  const driving = ["AttachOptions", "ReceiveOptions"];
  const known = new Set([...given, ...inside, ...driving]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("the paths go as deep as the options do", () => {
  const deep = Object.keys(entryPoints).flatMap((entry) =>
    optionsOf(entry).map(({ path }) => `${entry} ${path}`),
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

test("bearerAuth refuses the scope that no definition needs", () => {
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
