// Clients without a person: client credentials, the identity provider of an organisation, and the identity of a workload.
import {
  clientCredentials,
  enterpriseManaged,
  type EnterpriseManagedOptions,
  type OAuth,
  workloadIdentity,
} from "halyard/client/oauth";
import { describe, expect, test } from "vitest";
import { AuthorizationServer, registered } from "../../support/authorization-server.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { type IssuerRequest, refusal, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { failure, open } from "./support/person.ts";

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const idJag = "urn:ietf:params:oauth:token-type:id-jag";

async function startReal(): Promise<{ issuer: AuthorizationServer; server: ProtectedServer }> {
  const issuer = await AuthorizationServer.startForTest();
  return { issuer, server: await ProtectedServer.startForTest({ authorizationServers: [issuer.issuer] }) };
}

async function startScripted(): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer }> {
  const issuer = await ScriptedIssuer.start();
  for (const id of ["robot", "assistant", "job", ""]) issuer.clients.set(id, {});
  return { issuer, server: await ProtectedServer.behind([issuer]) };
}

/** The principal that the server sees. */
async function whoami(server: ProtectedServer, auth: OAuth): Promise<unknown> {
  const { content } = await (await open(server, auth)).callTool("whoami");
  return content[0]?.type === "text" ? content[0].text : content;
}

describe("clientCredentials", () => {
  test("obtains a token from a real authorization server with a secret, once for all calls [EXT-CC-AUTHN]", async () => {
    const { issuer, server } = await startReal();
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer });
    expect(await whoami(server, auth)).toBe(`robot of ${issuer.issuer}`);
    expect(await whoami(server, auth)).toBe(`robot of ${issuer.issuer}`);
    expect(issuer.asked.get("/token")).toBe(1);
    expect(issuer.asked.has("/reg")).toBe(false);
  });

  test("asks for a new token when the server no longer takes the old one", async () => {
    const { issuer, server } = await startScripted();
    const client = await open(server, clientCredentials({ ...registered.robot, issuer: issuer.issuer }));
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["client_credentials", "client_credentials"]);
  });

  test("asks for the scopes of the challenge, and names the resource as its metadata does [CL-RESOURCE]", async () => {
    const { issuer } = await startScripted();
    const server = await ProtectedServer.behind([issuer], { requiredScopes: ["notes:read"] });
    await whoami(server, clientCredentials({ ...registered.robot, issuer: issuer.issuer, scopes: ["more"] }));
    const [{ params } = { params: {} }] = issuer.of("/token");
    expect(params).toEqual({
      grant_type: "client_credentials",
      resource: server.url,
      scope: "notes:read more",
    });
  });

  test("says that the secret is wrong, and never repeats it", async () => {
    const { issuer, server } = await startReal();
    const auth = clientCredentials({ ...registered.robot, clientSecret: "guessed", issuer: issuer.issuer });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("denied");
    expect(message).toContain(`${issuer.issuer}/token refused with "invalid_client"`);
    expect(message).toContain("check clientId, its secret or key");
    expect(message).not.toContain("guessed");
  });

  test("does not send a secret to an issuer that it was not meant for [REG-BIND-ISSUER, REG-PREREG-MISMATCH]", async () => {
    const { issuer, server } = await startScripted();
    const auth = clientCredentials({ ...registered.robot, issuer: "https://auth.example" });
    expect((await failure(open(server, auth))).problem).toBe("issuer");
    expect(issuer.of("/token")).toEqual([]);
  });
});

describe("the token endpoint", () => {
  const html = { headers: { "content-type": "text/html" }, body: "<html>Welcome</html>" };
  const token = { access_token: "abc", token_type: "Bearer" };
  const rows = [
    ["responds with an HTML page", html, "token", "an HTML page"],
    ["is down", { status: 503, ...html }, "token", "HTTP status 503"],
    ["wants the client to wait", { status: 429, body: { error: "slow_down" } }, "token", "slow_down"],
    ["responds with a list", { body: [] }, "token", "a body that is not JSON"],
    [
      "issues a token of another kind",
      { body: { ...token, token_type: "mac" } },
      "token",
      '"token_type": "mac"',
    ],
    [
      "issues a token bound to a key",
      { body: { ...token, token_type: "DPoP" } },
      "token",
      "set the option dpop",
    ],
    ["issues no token", { body: { token_type: "Bearer" } }, "token", "no access_token"],
    [
      "issues a token that no header carries",
      { body: { ...token, access_token: "a\r\nb" } },
      "token",
      "header",
    ],
    ["refuses the grant", refusal("unauthorized_client"), "denied", "allow this grant for the client"],
    [
      "refuses with a challenge besides",
      {
        status: 401,
        headers: { "www-authenticate": 'Basic realm="issuer"' },
        body: { error: "invalid_client" },
      },
      "denied",
      'refused with "invalid_client": check clientId',
    ],
    [
      "refuses with a text that is JSON",
      { status: 400, headers: { "content-type": "text/plain" }, body: { error: "invalid_scope" } },
      "denied",
      "ask for other scopes",
    ],
    ["refuses with 200, as some do", { body: { error: "invalid_scope" } }, "denied", "ask for other scopes"],
    ["refuses with an error of its own", refusal("toString"), "denied", 'refused with "toString"'],
    [
      "redirects",
      { status: 307, headers: { location: "/elsewhere" } },
      "forbidden-address",
      "follows no redirect",
    ],
  ] as const;

  test.each(rows)("%s: the error says so", async (_, answer, problem, text) => {
    const { issuer, server } = await startScripted();
    issuer.answers["/token"] = answer;
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer });
    const error = await failure(open(server, auth));
    expect(error.problem).toBe(problem);
    expect(error.message).toContain(`${issuer.origin}/token`);
    expect(error.message).toContain(text);
    expect(issuer.of("/token")).toHaveLength(1);
    expect(issuer.of("/elsewhere")).toEqual([]);
  });

  test("cannot be reached: the error says so", async () => {
    const { issuer, server } = await startScripted();
    issuer.metadata = { token_endpoint: "http://127.0.0.1:1/token" };
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("token");
    expect(message).toContain("http://127.0.0.1:1/token");
  });

  test("cannot make an error write to a terminal, or fill it", async () => {
    const { issuer, server } = await startScripted();
    const error_description = `\u001B[2J\n${"long ".repeat(10_000)}`;
    issuer.answers["/token"] = { status: 400, body: { error: "invalid_grant", error_description } };
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer });
    const { message } = await failure(open(server, auth));
    expect(message).toMatch(/^[ -~…]*$/);
    expect(message).toContain("\\u001b[2J");
    expect(message.length).toBeLessThan(1000);
  });

  test("shows a clock that is wrong", async () => {
    const { issuer, server } = await startScripted();
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    issuer.answers["/token"] = { ...refusal("invalid_client", 401), headers: { date } };
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer });
    const { message } = await failure(open(server, auth));
    expect(message).toMatch(
      /The clock of this machine is 3(?:599|600|601) s behind that of the authorization server/,
    );
  });

  test.each([null, "soon", -1, {}])(
    "may say what makes no sense, such as %j, if there is a token",
    async (odd) => {
      const { issuer, server } = await startScripted();
      issuer.token = { refresh_token: odd, scope: odd, expires_in: odd, id_token: "not a JWT" };
      const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer });
      expect(await whoami(server, auth)).toBe(`alice of ${issuer.issuer}`);
    },
  );
});

test("a request for a token does not name the library that makes it", async () => {
  const { issuer, server } = await startScripted();
  await whoami(server, clientCredentials({ ...registered.robot, issuer: issuer.issuer }));
  expect(issuer.of("/token").map(({ headers }) => headers["user-agent"])).toEqual([undefined]);
});

describe("enterpriseManaged", () => {
  /** Three parties; the identity provider gives out a grant. */
  async function start(): Promise<{
    provider: ScriptedIssuer;
    issuer: ScriptedIssuer;
    server: ProtectedServer;
    options: EnterpriseManagedOptions;
  }> {
    const provider = await ScriptedIssuer.start("/company");
    provider.answers["/token"] = {
      body: { access_token: "the-id-jag", token_type: "N_A", issued_token_type: idJag },
    };
    const options = {
      issuer: "announced",
      clientId: "assistant",
      clientSecret: "secret at the server",
      identityProvider: {
        issuer: provider.issuer,
        clientId: "assistant-at-company",
        clientSecret: "secret at the company",
        idToken: "the-id-token",
      },
    };
    return { provider, options, ...(await startScripted()) };
  }

  test("exchanges the ID token at the identity provider [EXT-EMA-EXCHANGE]", async () => {
    const { provider, issuer, server, options } = await start();
    const auth = enterpriseManaged({ ...options, scopes: ["notes:read"] });
    expect(await whoami(server, auth)).toBe(`alice of ${issuer.issuer}`);
    expect(provider.of("/token").map(({ params }) => params)).toEqual([
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: idJag,
        audience: issuer.issuer,
        resource: server.url,
        scope: "notes:read",
        subject_token: "the-id-token",
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      },
    ]);
    expect(passwordOf(provider)).toEqual(["assistant-at-company", "secret at the company"]);
  });

  test("shows the grant to the authorization server of the MCP server [EXT-EMA-GRANT]", async () => {
    const { issuer, server, options } = await start();
    await whoami(server, enterpriseManaged(options));
    expect(issuer.of("/token").map(({ params }) => params)).toEqual([
      { grant_type: jwtBearer, assertion: "the-id-jag", resource: server.url },
    ]);
    expect(passwordOf(issuer)).toEqual(["assistant", "secret at the server"]);
  });

  test("asks for the ID token of the moment each time", async () => {
    const { provider, issuer, server, options } = await start();
    let count = 0;
    const identityProvider = { ...options.identityProvider, idToken: async () => `id-token-${(count += 1)}` };
    const client = await open(server, enterpriseManaged({ ...options, identityProvider }));
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    const tokens = provider.of("/token").map(({ params }) => params["subject_token"]);
    expect(tokens).toEqual(["id-token-1", "id-token-2"]);
  });

  const plain = { access_token: "abc", token_type: "Bearer" };
  const rows = [
    ["refuses the ID token", refusal("invalid_grant"), "denied", 'refused with "invalid_grant"'],
    ["issues an ordinary token", { body: plain }, "token", "issued no ID-JAG"],
    ["is down", { status: 500 }, "token", "HTTP status 500"],
  ] as const;

  test.each(rows)("says that the identity provider %s", async (_, answer, problem, text) => {
    const { provider, issuer, server, options } = await start();
    provider.answers["/token"] = answer;
    const error = await failure(open(server, enterpriseManaged(options)));
    expect(error.problem).toBe(problem);
    expect(error.message).toContain(`${provider.origin}/token`);
    expect(error.message).toContain(text);
    expect(issuer.of("/token")).toEqual([]);
  });

  test("rejects an ID token that is empty", async () => {
    const { provider, server, options } = await start();
    const identityProvider = { ...options.identityProvider, idToken: () => "" };
    const { message } = await failure(open(server, enterpriseManaged({ ...options, identityProvider })));
    expect(message).toBe("The function identityProvider.idToken returned no text");
    expect(provider.of("/token")).toEqual([]);
  });
});

describe("workloadIdentity", () => {
  test("shows the JWT of the platform, as it is at that moment", async () => {
    const { issuer, server } = await startScripted();
    let count = 0;
    const assertion = async (): Promise<string> => `jwt-${(count += 1)}\n`;
    const auth = workloadIdentity({ assertion, issuer: issuer.issuer, clientId: "job" });
    const client = await open(server, auth);
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    const common = { grant_type: jwtBearer, client_id: "job", resource: server.url };
    expect(issuer.of("/token").map(({ params }) => params)).toEqual([
      { ...common, assertion: "jwt-1" },
      { ...common, assertion: "jwt-2" },
    ]);
  });

  test("needs no id", async () => {
    const { issuer, server } = await startScripted();
    const client = await open(server, workloadIdentity({ assertion: "jwt", issuer: issuer.issuer }));
    await client.callTool("whoami");
    expect(issuer.of("/token").map(({ params }) => params)).toEqual([
      { grant_type: jwtBearer, assertion: "jwt", resource: server.url },
    ]);
  });

  test("gives up when the assertion is refused: no second request, and no other grant", async () => {
    const { issuer, server } = await startScripted();
    issuer.answers["/token"] = {
      status: 400,
      body: { error: "invalid_grant", error_description: "The assertion has expired" },
    };
    const auth = workloadIdentity({ assertion: "jwt", issuer: issuer.issuer });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("denied");
    expect(message).toContain('"invalid_grant" ("The assertion has expired")');
    expect(issuer.grantsAsked).toEqual([jwtBearer]);
  });

  test("shows the JWT to no issuer that it was not meant for", async () => {
    const { issuer, server } = await startScripted();
    const auth = workloadIdentity({ assertion: "jwt", issuer: "https://auth.example" });
    expect((await failure(open(server, auth))).problem).toBe("issuer");
    expect(issuer.of("/token")).toEqual([]);
  });
});

/** The name and the secret of the last token request. */
function passwordOf(issuer: ScriptedIssuer): string[] {
  const { headers } = issuer.of("/token").at(-1) as IssuerRequest;
  const decode = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
  return atob((headers.authorization ?? "").slice("Basic ".length))
    .split(":")
    .map(decode);
}
