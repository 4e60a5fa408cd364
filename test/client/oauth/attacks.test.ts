// Attacks on tokens, and accidents: what must not leak, grow without bound, be replayed, or get lost.
import { inspect } from "node:util";
import { connect } from "halyard/client";
import { clientCredentials, memoryStore, oauth, OAuthError, type TokenStore } from "halyard/client/oauth";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { passSeconds } from "../../support/clock.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { expectNoUnhandledRejections } from "../../support/rejections.ts";
import { refusal, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { signInByFetch } from "../../support/sign-in.ts";
import { until } from "../../support/turns.ts";
import { connectAway } from "./support/away.ts";
import { startCommandLine } from "./support/command-line.ts";
import { failure, open, person } from "./support/person.ts";

expectNoUnhandledRejections();

async function start(): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer }> {
  const issuer = await ScriptedIssuer.start();
  return { issuer, server: await ProtectedServer.behind([issuer]) };
}

/** A store that shows what it keeps. */
function openStore(): TokenStore & { readonly text: () => string } {
  const store = memoryStore();
  const keys = new Map<string, string | undefined>();
  return {
    get: (key) => store.get(key),
    exclusive: (key, work, signal) => store.exclusive(key, work, signal),
    async replace(key, expected, next) {
      const isDone = await store.replace(key, expected, next);
      if (isDone) keys.set(key, next);
      return isDone;
    },
    text: () => [...keys.values()].join("\n"),
  };
}

/** A request that waits for `go`. */
function gate(): { readonly wait: () => Promise<undefined>; readonly go: () => void; asked: number } {
  let go = (): void => {};
  const opened = new Promise<undefined>((resolve) => (go = () => resolve(undefined)));
  const found = {
    asked: 0,
    go: () => go(),
    wait: () => {
      found.asked++;
      return opened;
    },
  };
  return found;
}

const secret = "kept-in-the-environment";

function service(issuer: ScriptedIssuer, store?: TokenStore): ReturnType<typeof clientCredentials> {
  issuer.clients.set("service", {});
  return clientCredentials({
    issuer: issuer.issuer,
    clientId: "service",
    clientSecret: secret,
    ...(store && { store }),
  });
}

describe("a redirect", () => {
  test.each(
    ["your own fetch", "the built-in one"].flatMap((by) =>
      [301, 302, 303, 307, 308].map((status) => [by, status] as const),
    ),
  )("of a request with credentials leads nowhere, by %s (%i) [SEC-SSRF-CONSIDER]", async (by, status) => {
    const own = by === "your own fetch" ? { fetch: globalThis.fetch } : {};
    const { issuer, server } = await start();
    const target = await ScriptedIssuer.start();
    const redirects = { status, headers: { location: `${target.origin}/token` } };
    const signedIn = await open(server, person(own));
    issuer.answers["/token"] = redirects;
    const byService = clientCredentials({
      issuer: issuer.issuer,
      clientId: "service",
      clientSecret: secret,
      ...own,
    });
    expect((await failure(open(server, byService))).problem).toBe("forbidden-address");
    // The refresh of tokens, and a sign-in in its place.
    issuer.forgetAccessTokens();
    expect((await failure(signedIn.callTool("whoami"))).problem).toBe("forbidden-address");
    expect((await failure(open(server, person(own)))).problem).toBe("forbidden-address");
    delete issuer.answers["/token"];
    issuer.answers["/register"] = redirects;
    expect((await failure(open(server, person(own)))).problem).toBe("forbidden-address");
    expect(target.asked).toEqual([]);
  });
});

describe("errors", () => {
  test.each(["client_secret_basic", "client_secret_post"])(
    "do not contain the secret that an authorization server repeats: %s",
    async (method) => {
      const { issuer, server } = await start();
      issuer.metadata = { token_endpoint_auth_methods_supported: [method] };
      issuer.answers["/token"] = ({ params, headers }) => {
        const decoded = atob(headers.authorization?.replace("Basic ", "") ?? "");
        const received = `${params["client_secret"]} ${headers.authorization} ${decoded}`;
        return { status: 401, body: { error: "invalid_client", error_description: `Bad: ${received}` } };
      };
      const { message } = await failure(open(server, service(issuer)));
      expect(message).toContain("Bad: ");
      expect(message).not.toContain(secret);
      expect(message).not.toContain(btoa(`service:${secret}`));
    },
  );

  test.each(["authorization_code", "refresh_token"])(
    "do not contain what an authorization server repeats of a grant: %s",
    async (grant) => {
      const { issuer, server } = await start();
      const sent: string[] = [];
      const client = grant === "refresh_token" ? await open(server) : undefined;
      issuer.forgetAccessTokens();
      issuer.answers["/token"] = ({ params }) => {
        const received = [params["code"], params["code_verifier"], params["refresh_token"]];
        sent.push(...received.filter((value) => value !== undefined));
        return { status: 400, body: { error: `Unknown: ${received.join(" ")}` } };
      };
      const { message } = await failure(client ? client.callTool("whoami") : open(server));
      expect(message).toContain("Unknown: ");
      expect(sent.length).toBeGreaterThan(0);
      expect(sent.filter((value) => message.includes(value))).toEqual([]);
    },
  );

  test.each([{ token_type: "mac" }, { token_type: "DPoP" }, { error: "invalid_grant" }])(
    "and their causes do not contain a token that is of no use: %j",
    async (odd) => {
      const { issuer, server } = await start();
      issuer.token = odd;
      const error: unknown = await open(server).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OAuthError);
      expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/(?:access|refresh|code)-\d+-of/);
    },
  );

  test("and their causes do not contain the code of an answer that is refused", async () => {
    const { issuer, server } = await start();
    issuer.redirect = { response: "a JWT" };
    const error: unknown = await open(server).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ problem: "response", message: expect.stringContaining("is not valid: ") });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/code-\d+-of/);
  });

  test.each([undefined, "access-of-the-user"])(
    "do not contain the token that a server repeats: %s",
    async (token) => {
      const { server } = await start();
      server.answers["/mcp"] = ({ headers }) => {
        const said = `Bad: ${headers.authorization?.replace("Bearer ", "")}`;
        const challenge = `Bearer error="invalid_token", error_description="${said}"`;
        return { status: 401, headers: { "www-authenticate": challenge }, body: said };
      };
      const events: unknown[] = [];
      const options = { auth: token ?? person(), observe: (event: unknown) => void events.push(event) };
      const error: unknown = await connect(server.url, options).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      const all = inspect([error, events], { depth: 20, showHidden: true });
      expect(all).toContain("Bad: [redacted]");
      expect(all).not.toMatch(/access-/);
    },
  );

  test.each([false, true])("do not contain what a store could not keep: dpop %s", async (dpop) => {
    const { issuer, server } = await start();
    issuer.registration = { client_secret: "secret-of-the-client" };
    if (dpop) issuer.token = { token_type: "DPoP" };
    const store = memoryStore();
    const values: string[] = [];
    const auth = person({
      dpop,
      store: {
        ...store,
        replace: (key, expected, next) => {
          if (!key.includes("tokens")) return store.replace(key, expected, next);
          values.push(next ?? "");
          return Promise.reject(new Error(`Could not keep ${next}`));
        },
      },
    });
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    await open(server, auth).catch(() => {});
    const warnings = JSON.stringify(warn.mock.calls);
    expect(warnings).toContain("Could not keep");
    const { accessToken, refreshToken, dpopKey, client } = JSON.parse(values[0] ?? "") as {
      accessToken: string;
      refreshToken: string;
      dpopKey?: { d: string };
      client: { client_secret: string };
    };
    const secrets = [accessToken, refreshToken, client.client_secret, ...(dpopKey ? [dpopKey.d] : [])];
    expect(secrets).toHaveLength(dpop ? 4 : 3);
    expect(secrets.filter((text) => warnings.includes(text))).toEqual([]);
  });

  test("and events, recordings, the state and the console contain no token, code or verifier", async () => {
    const { issuer, server } = await start();
    const seen: unknown[] = [];
    for (const name of ["log", "warn", "error", "info", "debug"] as const) {
      const spy = vi.spyOn(console, name).mockImplementation((...values) => void seen.push(values));
      onTestFinished(() => spy.mockRestore());
    }
    const auth = person();
    const observe = (event: unknown): void => void seen.push(event);
    const record = (line: string): void => void seen.push(line);
    const client = await open(server, auth, { observe, record });
    await client.callTool("write_note");
    issuer.forgetAccessTokens();
    issuer.answers["/token"] = refusal("server_error", 500);
    seen.push(await client.callTool("whoami").catch((reason: unknown) => reason));
    const text = inspect([seen, client, client.state, auth], {
      depth: 20,
      showHidden: true,
      maxArrayLength: null,
    });
    const verifiers = issuer.of("/token").flatMap(({ params }) => params["code_verifier"] ?? []);
    expect(verifiers).toHaveLength(2);
    expect(verifiers.filter((verifier) => text.includes(verifier))).toEqual([]);
    expect(text).not.toMatch(/(?:access|refresh|code)-\d+-of/);
  });

  const colour = "\u001b[31m";

  test("show what a server calls its authorization server without control characters", async () => {
    const { issuer, server } = await start();
    const name = `${issuer.issuer}/${colour}`;
    server.announce(name);
    const body = { ...issuer.document, issuer: name, registration_endpoint: undefined };
    issuer.answers["/.well-known/oauth-authorization-server/%1B[31m"] = { body };
    const { problem, message } = await failure(open(server));
    expect(problem).toBe("registration");
    expect(message).toMatch(/^[ -~]+$/);
  });

  test("show what an authorization server calls a client without control characters", async () => {
    const { issuer, server } = await start();
    issuer.registration = { client_id: `client${colour}`, token_endpoint_auth_method: `jwt${colour}` };
    const { problem, message } = await failure(open(server));
    expect(problem).toBe("registration");
    expect(message).toMatch(/^[ -~]+$/);
  });
});

describe("scopes", () => {
  /** Asks for that many other scopes with each refusal of a call. */
  function askForMore(server: ProtectedServer, many: number): void {
    let count = 0;
    server.answers["/mcp"] = ({ headers }) => {
      if (headers["mcp-method"] !== "tools/call") return undefined;
      const scope = Array.from({ length: many }, () => `more:${++count}`).join(" ");
      return {
        status: 403,
        headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
      };
    };
  }

  test("that a server asks for without end are asked for up to a limit, and kept no longer", async () => {
    const { issuer, server } = await start();
    const store = openStore();
    const client = await open(server, service(issuer, store));
    askForMore(server, 300);
    for (let calls = 0; calls < 5; calls++) await client.callTool("whoami").catch(() => {});
    const { problem, message } = await failure(client.callTool("whoami"));
    expect(problem).toBe("metadata");
    expect(message).toContain("8192");
    expect(store.text().length).toBeLessThan(12_000);
    expect(issuer.grantsAsked.length).toBeLessThan(6);
  });

  test("of 100 KB in the metadata lead nobody to an address of that size", async () => {
    const { issuer, server } = await start();
    const scopes_supported = Array.from({ length: 10_000 }, (_, index) => `scope:${index}`);
    server.describeAs({ resource: server.url, authorization_servers: [issuer.issuer], scopes_supported });
    expect((await failure(open(server))).problem).toBe("metadata");
    expect(issuer.of("/authorize")).toEqual([]);
  });
});

describe("the life of a token", () => {
  test.each([1e308, 1e306, -1, 0, "soon", null, [], {}])(
    "may be anything: the token is kept for the next process, and forgotten by signOut: %s",
    async (seconds) => {
      const { issuer, server } = await start();
      issuer.token = { expires_in: seconds };
      const store = openStore();
      await open(server, person({ store }));
      const auth = person({ store });
      const client = await open(server, auth);
      await client.callTool("whoami");
      expect(issuer.of("/authorize")).toHaveLength(1);
      await auth.signOut(server.url);
      expect(store.text()).not.toMatch(/access-|refresh-/);
    },
  );

  test("may end while the authorization server is down: the server refuses it, and it is refreshed then", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    issuer.forgetAccessTokens();
    issuer.answers["/token"] = () => {
      delete issuer.answers["/token"];
      return refusal("temporarily_unavailable", 503);
    };
    passSeconds(290);
    await client.listTools();
    expect(issuer.of("/authorize")).toHaveLength(1);
  });
});

describe("signOut", () => {
  test("forgets what another process has refreshed since", async () => {
    const { issuer, server } = await start();
    const store = openStore();
    const auth = person({ store });
    await open(server, auth);
    const other = await open(server, person({ store }));
    issuer.forgetAccessTokens();
    await other.callTool("whoami");
    await auth.signOut(server.url);
    expect(store.text()).not.toMatch(/access-|refresh-/);
  });

  test("is not undone by a refresh that was under way", async () => {
    const { issuer, server } = await start();
    const store = openStore();
    const auth = oauth({ store, open: signInByFetch });
    const client = await open(server, auth);
    const token = gate();
    issuer.answers["/token"] = token.wait;
    passSeconds(290);
    const calling = client.callTool("whoami");
    await until(() => token.asked === 1);
    await auth.signOut(server.url);
    expect(store.text()).not.toMatch(/access-|refresh-/);
    token.go();
    await calling;
    expect(issuer.grantsAsked).toEqual(["authorization_code", "refresh_token", "authorization_code"]);
  });
});

describe("a request that waits for others, who give up", () => {
  test("finds the authorization server itself, and signs in", async () => {
    const { issuer, server } = await start();
    const metadata = gate();
    issuer.answers[issuer.metadataPath] = metadata.wait;
    const auth = person();
    const stop = new AbortController();
    const first = connect(server.url, { auth, signal: stop.signal }).catch((reason: unknown) => reason);
    await until(() => metadata.asked === 1);
    const beginning = server.asked.length;
    stop.abort();
    const second = open(server, auth);
    expect(await first).toMatchObject({ name: "AbortError" });
    await until(() => server.asked.length > beginning);
    metadata.go();
    expect((await second).state.name).toBe("ready");
  });

  test("shows the address that is open already, and continues when the person has signed in there", async () => {
    const { server } = await start();
    const stop = new AbortController();
    const { auth, address, shown, connecting } = await connectAway(server.url, {}, stop.signal);
    stop.abort();
    await expect(connecting).rejects.toMatchObject({ name: "AbortError" });
    const states: (string | undefined)[] = [];
    const second = connect(server.url, {
      auth,
      observe: (event) => void (event.type === "state" && states.push(event.state.url)),
    });
    await until(() => states.includes(address.href));
    await signInByFetch(address.href);
    const client = await second;
    onTestFinished(() => client.close());
    expect(shown).toHaveLength(1);
  });
});

describe("a process", () => {
  test("waits for the person although the first who wanted that has given up", async () => {
    const { server } = await start();
    const { stdout, exited } = startCommandLine(server.url, { givesUp: true, triesAgain: true });
    await until(
      () => stdout().includes("Gave up") && server.asked.some(({ path }) => path === "/mcp"),
      30_000,
    );
    const asked = server.credentials.length;
    await until(() => server.credentials.length > asked || server.credentials.length > 1, 30_000);
    await signInByFetch(/^http.*$/m.exec(stdout())?.[0] ?? "");
    expect(await exited).toBe(0);
    expect(stdout()).toMatch(/Gave up\nready\n$/);
  });

  // It would take 10 or 20 seconds until the client gives up on the authorization server.
  test.each(["metadata", "registration"])(
    "ends at once when it has given up on an authorization server that does not answer: %s",
    { timeout: 9000 },
    async (place) => {
      const { issuer, server } = await start();
      const silence = gate();
      issuer.answers[place === "metadata" ? issuer.metadataPath : "/register"] = silence.wait;
      issuer.answers["/give-up"] = async () => {
        await until(() => silence.asked > 0);
        return { body: "" };
      };
      const { stdout, exited } = startCommandLine(server.url, { givesUp: `${issuer.origin}/give-up` });
      expect(await exited).toBe(0);
      expect(stdout()).toBe("Gave up\n");
    },
  );
});

test("servers that share an authorization server may register at the same time, and refresh later", async () => {
  const issuer = await ScriptedIssuer.start();
  const servers = await Promise.all([1, 2, 3].map(() => ProtectedServer.behind([issuer])));
  const auth = person();
  const clients = await Promise.all(servers.map((server) => open(server, auth)));
  issuer.forgetAccessTokens();
  for (const client of clients) await client.callTool("whoami");
  expect(issuer.of("/authorize")).toHaveLength(3);
});

test("many clients of one oauth() sign in once", async () => {
  const { issuer, server } = await start();
  const auth = person();
  const clients = await Promise.all(Array.from({ length: 50 }, () => open(server, auth)));
  await Promise.all(clients.map((client) => client.callTool("whoami")));
  expect(issuer.of("/authorize")).toHaveLength(1);
});
