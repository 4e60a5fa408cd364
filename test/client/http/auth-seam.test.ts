// Credentials over HTTP: asked for before each request, and once more after a refusal.
import { type AuthRefusal, AuthRequired, type ClientAuth, connect } from "halyard/client";
import { describe, expect, test } from "vitest";
import {
  type Asked,
  failing,
  HttpScript,
  newestLegacy,
  newestModern,
  quick,
  start,
} from "../../support/http-script.ts";
import { deferred, until } from "../../support/turns.ts";

const credentials = ({ headers }: Asked): string | undefined => headers.authorization;

describe.each([newestModern, newestLegacy])("auth on %s", (revision) => {
  test.each([
    ["a token", "one"],
    ["a function", () => "one"],
    ["a slow function", async () => "one"],
    ["an object", { headers: () => ({ Authorization: "Bearer one" }) }],
    ["a slow object", { headers: async () => ({ authorization: "Bearer one" }) }],
  ])("may be %s, and goes with every request", async (_, auth) => {
    const { server, client } = await start({ revision, auth });
    server.on("work", ({ result }) => result());
    await client.request("work");
    await client.close();
    expect(server.asked.map(credentials)).toEqual(server.asked.map(() => "Bearer one"));
  });

  test("is asked before each request, and told which", async () => {
    let asked = 0;
    const seen: unknown[] = [];
    const headers = (request: object): Record<string, string> => {
      seen.push(request);
      return { Authorization: `Bearer ${++asked}` };
    };
    const { server, client } = await start({ revision, auth: { headers } });
    server.on("work", ({ result }) => result());
    await client.request("work");
    await client.request("work");
    const [first, second] = server.of("work").map(credentials);
    expect(first).not.toBe(second);
    expect(seen).toContainEqual({ url: server.url, method: "POST", server: server.url });
  });

  test.each([401, 403] as const)(
    "is told of %i, and the request is sent again with what it obtained",
    async (status) => {
      const refusals: AuthRefusal[] = [];
      let token = "old";
      const auth = {
        headers: () => ({ Authorization: `Bearer ${token}` }),
        refused: async (refusal: AuthRefusal) => {
          refusals.push(refusal);
          token = "new";
          return true;
        },
      };
      const { server, client } = await start({ revision, auth });
      server.on("work", (asked) =>
        credentials(asked) === "Bearer new"
          ? asked.result({ a: 1 })
          : asked.refuse(status, "No", { "www-authenticate": 'Bearer error="invalid_token"' }),
      );
      expect(await client.request("work")).toMatchObject({ a: 1 });
      expect(refusals).toEqual([
        {
          status,
          url: server.url,
          server: server.url,
          challenge: 'Bearer error="invalid_token"',
          refused: "Bearer old",
          revision,
          signal: expect.any(AbortSignal),
          header: expect.any(Function),
          prompt: expect.any(Function),
        },
      ]);
      expect(refusals[0]?.header("WWW-Authenticate")).toBe('Bearer error="invalid_token"');
      expect(refusals[0]?.header("dpop-nonce")).toBeUndefined();
      const [first, second] = server.of("work");
      expect(second?.body).toBe(first?.body);
    },
  );

  test.each([
    ["has no refused()", { headers: () => ({}) }, 1],
    ["gives up", { headers: () => ({}), refused: () => false }, 1],
    ["has nothing new", { headers: () => ({ authorization: "x" }), refused: () => true }, 2],
  ])("that %s ends in AuthRequired", async (_, auth, requests) => {
    const { server, client } = await start({ revision, auth });
    server.on("work", ({ refuse }) => refuse(401, "Who are you?", { "www-authenticate": "Bearer" }));
    const error = await failing(client.request("work"));
    expect(error).toBeInstanceOf(AuthRequired);
    expect(error).toMatchObject({ code: "NEEDS_AUTH", status: 401, url: server.url, challenge: "Bearer" });
    expect(error.cause).toMatchObject({ body: "Who are you?" });
    expect(server.of("work")).toHaveLength(requests);
  });

  test("that always obtains others is asked three times for each request", async () => {
    let obtained = 0;
    const auth = { headers: () => ({ authorization: String(obtained) }), refused: () => ++obtained > 0 };
    const { server, client } = await start({ revision, auth });
    server.on("work", ({ refuse }) => refuse(401));
    expect(await failing(client.request("work"))).toBeInstanceOf(AuthRequired);
    expect(server.of("work")).toHaveLength(4);
    expect(obtained).toBe(3);
  });

  test("that always obtains others is asked three times for one call, whatever the call leads to", async () => {
    let obtained = 0;
    const auth = { headers: () => ({ authorization: String(obtained) }), refused: () => ++obtained > 0 };
    const { server, client } = await start({ revision, auth });
    const refuseAll = ({ refuse }: Asked): void => refuse(401);
    server.on("tools/call", refuseAll);
    expect(await failing(client.callTool("pay"))).toBeInstanceOf(AuthRequired);
    expect(server.of("tools/call")).toHaveLength(4);
    expect(obtained).toBe(3);
  });

  test("that obtains others is asked three times for one call, however often that is sent", async () => {
    let obtained = 0;
    const auth = { headers: () => ({ authorization: String(obtained) }), refused: () => ++obtained > 0 };
    const { server, client } = await start({ revision, auth });
    server.on("work", ({ refuse }) =>
      server.of("work").length % 2 === 1 ? refuse(401) : refuse(503, "", { "retry-after": "0" }),
    );
    expect(await failing(client.request("work"))).toBeInstanceOf(AuthRequired);
    expect(obtained).toBe(3);
  });

  test("is asked for proofs with other nonces as often as requests need them", async () => {
    let proofs = 0;
    const auth = {
      headers: () => ({ authorization: "DPoP one", dpop: String(++proofs) }),
      refused: () => true,
    };
    const { server, client } = await start({ revision, auth });
    let refused = 0;
    const nonce = { "www-authenticate": 'DPoP error="use_dpop_nonce"' };
    server.on("tools/list", ({ message, refuse, result }) => {
      if (refused++ % 2 === 0) return refuse(401, "", nonce);
      const page = Number(message.params?.["cursor"] ?? 0) + 1;
      result({ tools: [], ...(page < 6 && { nextCursor: String(page) }) });
    });
    expect(await client.listTools()).toEqual([]);
    expect(server.of("tools/list")).toHaveLength(12);
  });

  test("is asked again while anything in its headers is new, and told of the nonces that replies carry", async () => {
    let nonce = "";
    let proofs = 0;
    const replies: unknown[] = [];
    const auth: ClientAuth = {
      headers: () => ({ Authorization: "DPoP one", DPoP: `${++proofs} ${nonce}` }),
      refused: () => true,
      replied: ({ url, server, header }) => {
        replies.push({ url, server });
        nonce = header("DPoP-Nonce") ?? nonce;
      },
    };
    const { server, client } = await start({ revision, auth });
    server.on("work", ({ headers, refuse, result }) => {
      const wanted = ["a", "b"][server.of("work").length - 1];
      if (wanted) refuse(401, "", { "dpop-nonce": wanted });
      else result({ proof: headers.dpop });
    });
    replies.length = 0;
    expect(await client.request("work")).toMatchObject({ proof: expect.stringMatching(/ b$/) });
    const { url } = server;
    expect(replies).toEqual([0, 1, 2].map(() => ({ url, server: url })));
  });

  test("is not told when a call brings credentials of its own", async () => {
    let refusals = 0;
    const auth = { headers: () => ({ authorization: "ours" }), refused: () => ++refusals > 0 };
    const { server, client } = await start({ revision, auth });
    server.on("work", ({ refuse }) => refuse(403));
    expect(await failing(client.request("work", {}, { headers: { Authorization: "own" } }))).toBeInstanceOf(
      AuthRequired,
    );
    expect(server.of("work").map(credentials)).toEqual(["own"]);
    expect(refusals).toBe(0);
  });

  test("that is still obtaining credentials makes the state needs-auth until it has them, or nobody waits", async () => {
    const asked = deferred<void>();
    const obtained = deferred<boolean>();
    const states: string[] = [];
    const auth = {
      headers: () => ({ Authorization: states.length === 0 ? "old" : "new" }),
      refused: () => {
        asked.resolve();
        return obtained.promise;
      },
    };
    const { server, client } = await start({ revision, auth });
    client.on("state", ({ name }) => states.push(name));
    server.on("work", (request) => (credentials(request) === "new" ? request.result() : request.refuse(401)));
    server.on("never", ({ refuse }) => void (server.of("never").length === 1 && refuse(401)));
    const working = client.request("work");
    await asked.promise;
    expect(client.state.name).toBe("needs-auth");
    const abort = new AbortController();
    const given = client.request("never", {}, { signal: abort.signal });
    await until(() => server.of("never").length === 1);
    obtained.resolve(true);
    await working;
    abort.abort("enough");
    expect(await failing(given)).toBe("enough");
    await until(() => client.state.name === "ready");
    expect(states).toContain("ready");
  });

  test("that never answers is given up with the call, and hears of it", async () => {
    const asked = deferred<AbortSignal>();
    const auth = {
      headers: () => ({}),
      refused: ({ signal }: AuthRefusal) => {
        asked.resolve(signal);
        return new Promise<boolean>(() => {});
      },
    };
    const { server, client } = await start({ revision, auth });
    server.on("work", ({ refuse }) => refuse(401));
    const abort = new AbortController();
    const working = client.request("work", {}, { signal: abort.signal });
    const signal = await asked.promise;
    abort.abort("enough");
    expect(await failing(working)).toBe("enough");
    await until(() => signal.aborted);
  });

  test("that throws fails the request with its error", async () => {
    let isBroken = false;
    const auth = () => {
      if (isBroken) throw new RangeError("The store is locked");
      return "token";
    };
    const { server, client } = await start({ revision, auth });
    isBroken = true;
    expect(await failing(client.request("work"))).toMatchObject({
      name: "RangeError",
      message: "The store is locked",
    });
    expect(server.of("work")).toEqual([]);
    isBroken = false;
  });
});

test("connect rejects with AuthRequired, and takes it for no era", async () => {
  const server = await HttpScript.open();
  server.on("server/discover", ({ refuse }) =>
    refuse(401, "", { "www-authenticate": 'Bearer resource_metadata="x"' }),
  );
  const error = await failing(connect(server.url, { backoff: quick }));
  expect(error).toBeInstanceOf(AuthRequired);
  expect(error).toMatchObject({ challenge: 'Bearer resource_metadata="x"' });
  expect(server.of("initialize")).toEqual([]);
});
