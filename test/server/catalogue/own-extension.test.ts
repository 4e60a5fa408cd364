// An extension of a user's own that does what tasks do: methods that repeat an id in a header, and news of one's own things.
import {
  type Context,
  ConfigurationError,
  errorCodes,
  type Extension,
  type JsonObject,
  McpServer,
  ProtocolError,
} from "halyard";
import { beforeEach, describe, expect, test } from "vitest";
import { allowBeyondSchema } from "../../support/schemas/witness.ts";
import { edges, listenOver, type ModernOptions, sendModern, serve } from "../../support/sessions.ts";

const identifier = "com.example/jobs";

beforeEach(() => allowBeyondSchema("result of jobs", "/params/notifications/jobIds", "notifications/jobs"));

function options(user: string, ...declared: readonly string[]): ModernOptions {
  const extensions = Object.fromEntries(declared.map((each) => [each, {}]));
  return {
    headers: { "x-user": user },
    meta: { "io.modelcontextprotocol/clientCapabilities": { extensions } },
  };
}

/** Jobs that belong to their caller, as in docs/guides/extensions.md. */
function jobServer(): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const owners = new Map([["a-1", "alice"]]);
  const isOwn = (jobId: unknown, ctx: Context): boolean =>
    owners.get(String(jobId)) === ctx.principal?.subject;
  const jobs: Extension = {
    settings: { kinds: ["print"] },
    requests: {
      "jobs/get": {
        mirrors: "jobId",
        run({ jobId }, ctx) {
          if (!isOwn(jobId, ctx)) throw new ProtocolError(errorCodes.invalidParams, "Unknown job");
          return { jobId, state: "printing" };
        },
      },
    },
    listens: {
      jobIds: {
        kind: "keys",
        notification: "notifications/jobs",
        requiresDeclaration: true,
        permits: async (ids, ctx) => ids.filter((each) => isOwn(each, ctx)),
      },
    },
  };
  server.tool("core", {}, () => "core");
  return server.extension(identifier, jobs);
}

describe.each(edges)("an extension of one's own · %s", (edge) => {
  const authenticate = (request: {
    header(name: string): string | undefined;
  }): { issuer: string; subject: string } => ({
    issuer: "https://issuer.example",
    subject: request.header("x-user") ?? "",
  });
  const begin = async (server = jobServer()): Promise<{ server: McpServer; url: string }> => ({
    server,
    url: (await serve(server, { auth: authenticate }, edge)).url,
  });
  const named = (given: ModernOptions, name: string): ModernOptions => ({
    ...given,
    headers: { ...given.headers, "mcp-name": name },
  });

  test("has its ids repeated in Mcp-Name, and checked", async () => {
    const { url } = await begin();
    const ask = async (name: string, user: string): Promise<[number, JsonObject]> => {
      const reply = await sendModern(
        url,
        "jobs/get",
        { jobId: "a-1" },
        named(options(user, identifier), name),
      );
      return [reply.status, await reply.json()];
    };
    expect(await ask("a-1", "alice")).toMatchObject([
      200,
      { result: { state: "printing", resultType: "complete" } },
    ]);
    expect(await ask("a-2", "alice")).toMatchObject([400, { error: { code: -32020 } }]);
    expect(await ask("a-1", "bob")).toMatchObject([200, { error: { code: -32602 } }]);
  });

  test("tells each client only of what it may hear of", async () => {
    const { server, url } = await begin();
    const filter = { jobIds: ["a-1", "a-2"], toolsListChanged: true };
    const [alice, bob] = [
      await listenOver(url, filter, options("alice", identifier)),
      await listenOver(url, filter, options("bob", identifier)),
    ];
    expect(alice.messages[0]).toHaveProperty("params.notifications", {
      jobIds: ["a-1"],
      toolsListChanged: true,
    });
    expect(bob.messages[0]).toHaveProperty("params.notifications", { toolsListChanged: true });
    expect(await server.push.publish("notifications/jobs", "a-1", { state: "done" })).toBe(1);
    expect((await alice.count(2))[1]).toMatchObject({
      method: "notifications/jobs",
      params: { state: "done" },
    });
    expect(bob.messages).toHaveLength(1);
    alice.cut();
    bob.cut();
  });

  test("refuses a client that wants its news and did not declare it", async () => {
    const { url } = await begin();
    const reply = await sendModern(
      url,
      "subscriptions/listen",
      { notifications: { jobIds: [] } },
      options("alice"),
    );
    expect(JSON.stringify(reply.messages[0] ?? (await reply.json()))).toContain("-32021");
    reply.cut();
  });

  test("has a breaking change under a new identifier, beside the old one, and each client gets what it declares [EXT-BREAKING-NEW-ID]", async () => {
    const server = jobServer().extension("com.example/jobs2", {
      requests: { "jobs2/get": ({ jobId }) => ({ job: { id: jobId } }) },
    });
    const { url } = await begin(server);
    const ask = async (method: string, declared: string): Promise<JsonObject> =>
      (await sendModern(url, method, { jobId: "a-1" }, named(options("alice", declared), "a-1"))).json();
    expect(await ask("jobs/get", identifier)).toMatchObject({ result: { jobId: "a-1" } });
    expect(await ask("jobs2/get", "com.example/jobs2")).toMatchObject({ result: { job: { id: "a-1" } } });
    expect(await ask("jobs2/get", identifier)).toMatchObject({ error: { code: -32021 } });
  });
});

describe("an extension that cannot be added", () => {
  const clashes: Record<string, Extension> = {
    "a method of the protocol": { requests: { "a/new": () => ({}), "tools/call": () => ({}) } },
    "a method of another extension": { requests: { "a/new": () => ({}), "jobs/get": () => ({}) } },
    "a filter of the protocol": {
      requests: { "a/new": () => ({}) },
      listens: { toolsListChanged: { kind: "flag", notification: "notifications/a" } },
    },
    "a filter of another extension": {
      requests: { "a/new": () => ({}) },
      listens: { jobIds: { kind: "keys", notification: "notifications/a" } },
    },
  };

  test.each(Object.entries(clashes))("since it has %s, leaves nothing behind", (_, extension) => {
    const server = jobServer();
    expect(() => server.extension("com.example/a", extension)).toThrow(ConfigurationError);
    expect(server.capabilities().extensions).toEqual({ [identifier]: { kinds: ["print"] } });
    server.extension("com.example/a", { requests: { "a/new": () => ({}) } });
  });
});
