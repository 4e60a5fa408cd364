// A person signs in: what the client asks for, and which answers it believes.
import { createHash } from "node:crypto";
import { oauth, OAuthError, type OAuthProblem } from "halyard/client/oauth";
import { describe, expect, test } from "vitest";
import { AuthorizationServer } from "../../support/authorization-server.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { followRedirects, signInByFetch } from "../../support/sign-in.ts";
import { deferred, until } from "../../support/turns.ts";
import { backTo, connectAway, connectForTest } from "./support/away.ts";

async function start() {
  const issuer = await ScriptedIssuer.start();
  return { issuer, server: await ProtectedServer.behind([issuer]) };
}

/** The person visits the address; resolves with the page in the end, and how connecting failed. */
async function failureOf({ address, connecting }: Awaited<ReturnType<typeof connectAway>>) {
  const failing = connecting.catch((reason: unknown) => reason);
  const { response } = await followRedirects(address);
  const error = await failing;
  expect(error).toBeInstanceOf(OAuthError);
  const { problem, message } = error as OAuthError;
  return { problem, message, status: response?.status, page: (await response?.text()) ?? "" };
}

test("oauth signs a person in at a real authorization server, and the server knows them", async () => {
  const issuer = await AuthorizationServer.startForTest();
  const server = await ProtectedServer.startForTest({ authorizationServers: [issuer.issuer] });
  const client = await connectForTest(server.url, oauth({ open: signInByFetch, scopes: ["notes:read"] }));
  const { content } = await client.callTool("whoami");
  expect(content).toEqual([{ type: "text", text: `alice of ${issuer.issuer}` }]);
});

test("oauth says to pass scopes where an authorization server grants nothing without one", async () => {
  const issuer = await AuthorizationServer.startForTest();
  const server = await ProtectedServer.startForTest({ authorizationServers: [issuer.issuer] });
  const signingIn = connectForTest(server.url, oauth({ open: signInByFetch }));
  await expect(signingIn).rejects.toThrow(
    `The answer to the sign-in at "${issuer.issuer}" is a refusal: "access_denied": unless a person declined, the authorization server wants a scope, and the MCP server names none: pass scopes`,
  );
});

test("oauth proves with S256 that it began the sign-in [CL-PKCE]", async () => {
  const { issuer, server } = await start();
  await connectForTest(server.url, oauth({ open: signInByFetch }));
  const [asked] = issuer.of("/authorize");
  const [redeemed] = issuer.of("/token");
  const verifier = redeemed?.params["code_verifier"] ?? "";
  expect(verifier).toMatch(/^[\w-]{43,128}$/);
  expect(asked?.params).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  });
  expect(redeemed?.params["redirect_uri"]).toBe(asked?.params["redirect_uri"]);
});

test.each([
  ["lists none", undefined],
  ["lists plain only", ["plain"]],
])("oauth shows no address if the metadata %s [CL-PKCE-VERIFY]", async (_, methods) => {
  const { issuer, server } = await start();
  issuer.metadata = { code_challenge_methods_supported: methods };
  const error: unknown = await connectAway(server.url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "OAUTH", problem: "metadata" });
  expect((error as Error).message).toContain("code_challenge_methods_supported");
});

test("oauth names the resource byte for byte, when a person signs in and for the token [CL-RESOURCE]", async () => {
  const { issuer, server } = await start();
  await connectForTest(server.url, oauth({ open: signInByFetch }));
  expect(
    [...issuer.of("/authorize"), ...issuer.of("/token")].map(({ params }) => params["resource"]),
  ).toEqual([server.url, server.url]);
});

test("oauth keeps the parameters that the authorization endpoint has, and leaves out an empty scope", async () => {
  const { issuer, server } = await start();
  issuer.metadata = {
    authorization_endpoint: `${issuer.origin}/authorize?tenant=a%20b&state=theirs`,
    scopes_supported: [],
  };
  const { address } = await connectAway(server.url);
  expect(address.searchParams.get("tenant")).toBe("a b");
  expect(address.searchParams.getAll("state")).toHaveLength(1);
  expect(address.searchParams.get("state")).not.toBe("theirs");
  expect(address.searchParams.has("scope")).toBe(false);
});

test("oauth asks for consent along with offline_access, which OpenID Connect ignores otherwise", async () => {
  const { server } = await start();
  const { address } = await connectAway(server.url, { scopes: ["openid"] });
  expect(address.searchParams.get("scope")).toBe("openid offline_access");
  expect(address.searchParams.get("prompt")).toBe("consent");
});

describe("oauth shows no address", () => {
  test.each([
    "javascript:alert(1)",
    "data:text/html,hi",
    "file:///etc/passwd",
    "vbscript:x",
    "http://auth.example.com/authorize",
    "https://localhost@auth.example.com/authorize",
    "not a URL",
  ])("such as %s [SEC-AUTHURL-SCHEME] [SEC-AUTHURL-SANITIZE] [AUTH-HTTPS]", async (endpoint) => {
    const { issuer, server } = await start();
    issuer.metadata = { authorization_endpoint: endpoint };
    const error: unknown = await connectAway(server.url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "OAUTH", problem: "forbidden-address" });
  });
});

describe("oauth believes no answer", () => {
  const description = "call 555-0100 to get help";
  const code = "a code of somebody else";
  const rows: readonly (readonly [
    name: string,
    redirect: Readonly<Record<string, unknown>> | ((issuer: string) => Readonly<Record<string, unknown>>),
    metadata: Readonly<Record<string, unknown>>,
    says: string,
  ])[] = [
    [
      "of another issuer [CL-ISS-COMPARE, CL-ISS-RECORD]",
      { iss: "https://evil.example" },
      {},
      '"https://evil.example"',
    ],
    [
      "of another issuer where iss is not announced [CL-ISS-COMPARE]",
      { iss: "https://evil.example" },
      { authorization_response_iss_parameter_supported: undefined },
      '"https://evil.example"',
    ],
    ["whose issuer differs by a slash [CL-ISS-NO-NORMALIZE]", (issuer) => ({ iss: `${issuer}/` }), {}, '/"'],
    [
      "whose issuer differs by case [CL-ISS-NO-NORMALIZE]",
      (issuer) => ({ iss: issuer.replace("http", "HTTP") }),
      {},
      '"HTTP',
    ],
    [
      "with an empty issuer [CL-ISS-COMPARE]",
      { iss: "" },
      { authorization_response_iss_parameter_supported: false },
      '""',
    ],
    ["without the issuer that is announced [CL-ISS-MISSING]", { iss: undefined }, {}, "no iss"],
    [
      "that is an error of another issuer [CL-ISS-ERROR-RESPONSES]",
      {
        iss: "https://evil.example",
        code: undefined,
        error: "access_denied",
        error_description: description,
      },
      {},
      '"https://evil.example"',
    ],
    [
      "that is an error without the issuer that is announced [CL-ISS-ERROR-RESPONSES]",
      { iss: undefined, code: undefined, error: "access_denied", error_description: description },
      {},
      "no iss",
    ],
    ["without a code", { code: undefined }, {}, "no code"],
  ];
  test.each(rows)("%s", async (_, redirect, metadata, says) => {
    const { issuer, server } = await start();
    issuer.metadata = metadata;
    issuer.redirect = typeof redirect === "function" ? redirect(issuer.issuer) : redirect;
    const failure = await failureOf(await connectAway(server.url));
    expect(failure).toMatchObject({ problem: "response" satisfies OAuthProblem, status: 400 });
    expect(failure.message).toContain(issuer.issuer);
    expect(failure.message).toContain(says);
    expect(failure.message + failure.page).not.toContain("555-0100");
    expect(issuer.of("/token")).toEqual([]);
  });

  test.each(["code", "state", "iss"])("that has %s twice", async (name) => {
    const { issuer, server } = await start();
    const { address, connecting } = await connectAway(server.url);
    const failing = expect(connecting).rejects.toThrow(`has ${name} twice`);
    const back = backTo(address, { code, iss: issuer.issuer });
    back.searchParams.append(name, back.searchParams.get(name) ?? "");
    await fetch(back);
    await failing;
    expect(issuer.of("/token")).toEqual([]);
  });

  test("with a code that was used before", async () => {
    const { issuer, server } = await start();
    issuer.redirect = { code };
    const failure = await failureOf(await connectAway(server.url));
    expect(failure).toMatchObject({ problem: "denied", status: 400 });
    expect(failure.message).toContain("invalid_grant");
  });
});

test("oauth accepts an answer without iss where none is announced [CL-ISS-MISSING]", async () => {
  const { issuer, server } = await start();
  issuer.metadata = { authorization_response_iss_parameter_supported: undefined };
  issuer.redirect = { iss: undefined };
  const client = await connectForTest(server.url, oauth({ open: signInByFetch }));
  expect(client.state.name).toBe("ready");
});

test("oauth says why the authorization server refused, without control characters", async () => {
  const { issuer, server } = await start();
  issuer.redirect = { code: undefined, error: "access_denied", error_description: "<b>No</b>\u001b[2J" };
  const failure = await failureOf(await connectAway(server.url));
  expect(failure).toMatchObject({ problem: "denied", status: 400 });
  expect(failure.message).toContain('"access_denied" ("<b>No</b>\\u001b[2J")');
  expect(failure.page).not.toContain("<b>");
});

test("oauth ignores answers with another state, and waits on for its own [CL-STATE]", async () => {
  const { issuer, server } = await start();
  const { address, connecting } = await connectAway(server.url);
  for (const state of ["", "guessed", `${address.searchParams.get("state")}x`]) {
    const reply = await fetch(backTo(address, { state, code: "theirs", iss: issuer.issuer }));
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain("not the sign-in that is under way");
  }
  await signInByFetch(address.href);
  expect((await connecting).state.name).toBe("ready");
  expect(issuer.of("/token")).toHaveLength(1);
});

test("oauth takes the first answer only", async () => {
  const { issuer, server } = await start();
  const isReached = deferred();
  const isLetGo = deferred();
  issuer.answers["/token"] = async () => {
    isReached.resolve();
    await isLetGo.promise;
    return undefined;
  };
  const { address, connecting } = await connectAway(server.url);
  const first = signInByFetch(address.href);
  await isReached.promise;
  const second = await fetch(backTo(address, { code: "theirs", iss: issuer.issuer }));
  expect(second.status).toBe(400);
  isLetGo.resolve();
  await first;
  expect((await connecting).state.name).toBe("ready");
});

test("oauth gives up when nobody signs in in time", async () => {
  const { server } = await start();
  const { connecting, address } = await connectAway(server.url, { signInTimeoutMs: 50 });
  await expect(connecting).rejects.toMatchObject({ problem: "sign-in" satisfies OAuthProblem });
  await expect(connecting).rejects.toThrow(/Nobody signed in at 127\.0\.0\.1:\d+ within 50 ms/);
  await expect(fetch(backTo(address, { code: "late" }))).rejects.toThrow("fetch failed");
});

test.each([
  [
    "throws",
    () => {
      throw new Error("no window manager");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no window manager"))],
])("oauth fails if open %s", async (_, open) => {
  const { server } = await start();
  const failing = connectForTest(server.url, oauth({ open }));
  await expect(failing).rejects.toMatchObject({ problem: "sign-in" satisfies OAuthProblem });
  await expect(failing).rejects.toThrow("no window manager");
});

test("a sign-in continues when the call that began it has given up, and serves later ones", async () => {
  const { issuer, server } = await start();
  const giveUp = new AbortController();
  const { auth, address, shown, connecting } = await connectAway(server.url, {}, giveUp.signal);
  giveUp.abort(new Error("enough"));
  await expect(connecting).rejects.toThrow("enough");
  await signInByFetch(address.href);
  const client = await connectForTest(server.url, auth);
  expect(client.state.name).toBe("ready");
  expect(shown).toHaveLength(1);
  expect(issuer.of("/authorize")).toHaveLength(1);
});

test("close ends the calls that wait for a person, not the sign-in", async () => {
  const { issuer, server } = await start();
  const shown: string[] = [];
  const auth = oauth({ open: (url) => (shown.push(url) === 1 ? signInByFetch(url) : undefined) });
  const client = await connectForTest(server.url, auth);
  issuer.forgetAccessTokens();
  issuer.forgetRefreshTokens();
  const calling = client.callTool("whoami").catch((reason: unknown) => reason);
  await until(() => shown.length === 2);
  expect(client.state).toMatchObject({ name: "needs-auth", url: shown[1] });
  await client.close();
  expect(await calling).toBeInstanceOf(Error);
  await signInByFetch(shown[1] ?? "");
  const other = await connectForTest(server.url, auth);
  expect(other.state.name).toBe("ready");
  expect(shown).toHaveLength(2);
});

test("clients that need the same tokens share one sign-in", async () => {
  const { issuer, server } = await start();
  const { auth, address, shown, connecting } = await connectAway(server.url);
  const others = [connectForTest(server.url, auth), connectForTest(server.url, auth)];
  await until(() => server.credentials.length === 3);
  await signInByFetch(address.href);
  for (const client of await Promise.all([connecting, ...others])) expect(client.state.name).toBe("ready");
  expect(shown).toHaveLength(1);
  expect(issuer.of("/token")).toHaveLength(1);
});

test.each([
  [{ open: "popup" }, /open cannot be "popup" here: pass "browser"/],
  [{ open: "redirect" }, /open cannot be "redirect" here: pass "browser"/],
  [
    { redirectUri: "https://app.example.com/callback" },
    /redirectUri is "https:\/\/app\.example\.com\/callback": pass/,
  ],
  [{ redirectUri: "http://app.example.com/callback" }, /pass an address of this machine/],
  [{ redirectUri: "https://127.0.0.1/callback" }, /pass an address of this machine/],
] as const)("oauth(%o) throws on Node [AUTH-HTTPS]", (options, message) => {
  expect(() => oauth(options)).toThrow(message);
});
