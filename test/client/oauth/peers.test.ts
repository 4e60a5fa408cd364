// A client's OAuth against servers and authorization servers that others wrote, and against what is often wrong with them.
import { connect, type McpClient } from "halyard/client";
import { clientCredentials, memoryStore, oauth, type OAuthOptions } from "halyard/client/oauth";
import { describe, expect, onTestFinished, test } from "vitest";
import { ProtectedServer } from "../../support/protected-server.ts";
import { ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { signInByForms } from "./support/forms.ts";
import {
  startFastMcp,
  startFastMcpWithKey,
  startProvider,
  startV1,
  startV1Apart,
  startV2,
} from "./support/peers.ts";
import { failure, open, person } from "./support/person.ts";

/** How long a person is waited for who sees an error page. */
const signInTimeoutMs = 2000;

async function join(url: string, options: OAuthOptions = {}): Promise<McpClient> {
  const client = await connect(url, { auth: oauth({ open: signInByForms, ...options }) });
  onTestFinished(() => client.close());
  return client;
}

async function greeting(client: McpClient): Promise<unknown> {
  return (await client.callTool("hello")).content[0];
}

const hello = { type: "text", text: "Hello" };

describe("version 1 of the official SDK", () => {
  test.each([
    ["with its authorization server", startV1],
    ["apart from its authorization server, which insists on the resource", startV1Apart],
  ])("lets a person in: %s", async (_, start) => {
    expect(await greeting(await join((await start()).url))).toEqual(hello);
  });

  test("ends its issuer with a slash, which you may leave out", async () => {
    const { url, issuer } = await startV1();
    expect(issuer).toMatch(/\/$/);
    expect(await greeting(await join(url, { issuer: issuer.slice(0, -1) }))).toEqual(hello);
  });

  test("forgets its clients when it restarts: the next sign-in registers anew", async () => {
    const { url, provider } = await startV1();
    const options = { store: memoryStore(), signInTimeoutMs };
    await join(url, options);
    const { clients } = provider.clientsStore as unknown as { readonly clients: Map<string, unknown> };
    clients.clear();
    (provider as unknown as { readonly tokens: Map<string, unknown> }).tokens.clear();
    expect((await failure(join(url, options))).problem).toBe("sign-in");
    expect(await greeting(await join(url, options))).toEqual(hello);
    expect(clients.size).toBe(1);
  });
});

describe("oidc-provider as it is, in front of version 2 of the official SDK", () => {
  const registration = { enabled: true };

  test("lets a person in, and refreshes its opaque tokens", async () => {
    const issuer = await startProvider({
      features: { registration, resourceIndicators: { enabled: false } },
    });
    const { url, tokens, ended } = await startV2(issuer);
    let signIns = 0;
    const client = await join(url, {
      scopes: ["openid"],
      open(address) {
        signIns += 1;
        return signInByForms(address);
      },
    });
    expect(await greeting(client)).toEqual(hello);
    for (const token of tokens) ended.add(token);
    expect(await greeting(client)).toEqual(hello);
    expect([signIns, tokens.size]).toEqual([1, 2]);
  });

  test("knows no resource by default: the error says what to add", async () => {
    const { url } = await startV2(await startProvider({ features: { registration } }));
    const { problem, message } = await failure(join(url));
    expect(problem).toBe("denied");
    expect(message).toContain(`let the authorization server accept "${url}"`);
  });
});

describe("FastMCP", () => {
  test("lets a person in through its proxy", async () => {
    expect(await greeting(await join(await startFastMcp("http://127.0.0.1:*")))).toEqual(hello);
  });

  test("that wants people to come back to localhost says so, and lets them in then", async () => {
    const url = await startFastMcp("http://localhost:*");
    const { problem, message } = await failure(join(url));
    expect(problem).toBe("registration");
    expect(message).toContain('such as "http://localhost/callback"');
    expect(await greeting(await join(url, { redirectUri: "http://localhost/callback" }))).toEqual(hello);
  });

  test("that takes a fixed token is no matter for OAuth, and the error says so", async () => {
    const url = await startFastMcpWithKey("k3y");
    const { problem, message } = await failure(join(url));
    expect(problem).toBe("metadata");
    expect(message).toContain(`${url} requires a token, but does not say who issues it`);
    const client = await connect(url, { auth: "k3y" });
    onTestFinished(() => client.close());
    expect(await greeting(client)).toEqual(hello);
  });
});

type Setting = (server: ProtectedServer, issuer: ScriptedIssuer) => OAuthOptions | void;

async function set(setting: Setting): Promise<{ server: ProtectedServer; join: () => Promise<McpClient> }> {
  const issuer = await ScriptedIssuer.start();
  const server = await ProtectedServer.behind([issuer]);
  const options = setting(server, issuer) ?? {};
  return { server, join: () => open(server, person({ signInTimeoutMs, ...options })) };
}

function refuseWith(
  server: ProtectedServer,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  server.answers["/mcp"] = (request) => (request.headers.authorization ? undefined : { status, headers });
}

/** The answer to a sign-in that fails. */
function deny(issuer: ScriptedIssuer, error: string, description: string): void {
  issuer.redirect = { error, error_description: description };
}

describe("works although", () => {
  test.each<[string, Setting]>([
    ["the 401 has no WWW-Authenticate", (server) => refuseWith(server, 401)],
    ["the 401 names no metadata", (server) => refuseWith(server, 401, { "www-authenticate": "Bearer" })],
    [
      "the issuer has a slash in the metadata of the server, and you say which it is",
      (server, { issuer }) => {
        server.announce(`${issuer}/`);
        return { issuer };
      },
    ],
    [
      "the metadata has null for what is not there",
      (_, issuer) => {
        issuer.metadata = { registration_endpoint: null, scopes_supported: null };
        issuer.clients.set("app", {});
        return { clientId: "app" };
      },
    ],
    ["expires_in is a text", (_, issuer) => void (issuer.token = { expires_in: "300" })],
    ["expires_in is empty", (_, issuer) => void (issuer.token = { expires_in: "" })],
    ["token_type is in capitals", (_, issuer) => void (issuer.token = { token_type: "BEARER" })],
    [
      "the secret must be in the body",
      (_, issuer) => {
        issuer.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
        const refused = { status: 401, body: { error: "invalid_client" } };
        issuer.answers["/token"] = ({ params }) => (params["client_secret"] ? undefined : refused);
      },
    ],
  ])("%s", async (_, setting) => {
    const client = await (await set(setting)).join();
    expect(await client.callTool("whoami")).toMatchObject({ content: [{ type: "text" }] });
  });
});

describe("says what to change where", () => {
  test.each<[string, Setting, problem: string, remedy: (server: ProtectedServer, issuer: string) => string]>([
    [
      "resource has a slash at its end",
      (server, { issuer }) =>
        server.describeAs({ resource: `${server.url}/`, authorization_servers: [issuer] }),
      "resource",
      ({ url }) => `Change it there, connect to "${url}/", or pass \`resource: "${url}/"\``,
    ],
    [
      "the issuer has a slash at one side",
      (server, { issuer }) => server.announce(`${issuer}/`),
      "issuer",
      (_, issuer) => `Until then, pass \`issuer: "${issuer}"\``,
    ],
    [
      "the issuer is not a URL",
      (server) => server.announce("auth.example.com"),
      "metadata",
      ({ origin }) => `${origin}/.well-known/oauth-protected-resource/mcp must name the issuer`,
    ],
    [
      "an endpoint is empty",
      (_, issuer) => void (issuer.metadata = { registration_endpoint: "" }),
      "metadata",
      () => 'has "registration_endpoint": "", but must have a URL',
    ],
    [
      "PKCE is not announced",
      (_, issuer) => void (issuer.metadata = { code_challenge_methods_supported: undefined }),
      "metadata",
      (_, issuer) => `The metadata of "${issuer}" must have "code_challenge_methods_supported": ["S256"]`,
    ],
    [
      "iss is announced, but missing",
      (_, issuer) => void (issuer.redirect = { iss: undefined }),
      "response",
      () => "drop authorization_response_iss_parameter_supported",
    ],
    [
      "the authorization server refuses a parameter that it does not know",
      (_, issuer) => deny(issuer, "invalid_request", "Unknown parameter: resource"),
      "denied",
      ({ url }) => `let the authorization server accept "${url}"`,
    ],
    [
      "the authorization server refuses the scopes",
      (_, issuer) => deny(issuer, "invalid_scope", "No"),
      "denied",
      () => "ask for other scopes",
    ],
    [
      "the token endpoint refuses with a status of success",
      (_, issuer) => void (issuer.answers["/token"] = { body: { error: "invalid_grant" } }),
      "denied",
      () => 'refused with "invalid_grant"',
    ],
    [
      "the token endpoint refuses in its own words",
      (_, issuer) => void (issuer.answers["/token"] = { status: 400, body: "The audience is missing" }),
      "token",
      () => 'HTTP status 400 ("The audience is missing")',
    ],
    [
      "token_type is missing",
      (_, issuer) => void (issuer.token = { token_type: undefined }),
      "token",
      () => '"token_type": nothing, but it must be bearer',
    ],
  ])("if %s", async (_, setting, problem, remedy) => {
    let issuer = "";
    const { server, join: begin } = await set((one, two) => {
      issuer = two.issuer;
      return setting(one, two);
    });
    const failed = await failure(begin());
    expect(failed.problem).toBe(problem);
    expect(failed.message).toContain(remedy(server, issuer));
  });

  test("if the server answers 403 to a request without a token", async () => {
    const { server, join: begin } = await set((one) => refuseWith(one, 403));
    await expect(begin()).rejects.toMatchObject({
      name: "HttpFailure",
      message: `${server.url} answered 403: if it requires a token, let it answer 401`,
    });
  });

  test("if a service finds no authorization server", async () => {
    const { server } = await set((one) => {
      for (const path of Object.values(one.metadataPaths)) one.answers[path] = { status: 404 };
      refuseWith(one, 401);
    });
    const auth = clientCredentials({ clientId: "robot", clientSecret: "s3cret", issuer: "announced" });
    const { problem, message } = await failure(connect(server.url, { auth }));
    expect(problem).toBe("metadata");
    expect(message).toContain("serve /.well-known/oauth-protected-resource there");
  });
});

test("an issuer of another host is never the one that you pass, whatever its end", async () => {
  const { join: begin } = await set((server, { issuer }) => {
    server.announce(`${issuer.replace("127.0.0.1", "127.0.0.2")}/`);
    return { issuer };
  });
  expect((await failure(begin())).problem).toBe("issuer");
});

test("sign-ins at two servers of one authorization server at the same time leave both a refresh token", async () => {
  const issuer = await ScriptedIssuer.start();
  const servers = await Promise.all([ProtectedServer.behind([issuer]), ProtectedServer.behind([issuer])]);
  const auth = person();
  const clients = await Promise.all(servers.map((server) => open(server, auth)));
  issuer.forgetAccessTokens();
  for (const client of clients) await client.callTool("whoami");
  expect(issuer.of("/authorize")).toHaveLength(2);
});
