// How a client finds the authorization server of an MCP server, and what it refuses to believe.
import { oauth } from "halyard/client/oauth";
import { connect } from "halyard/client";
import { describe, expect, test } from "vitest";
import { deferred } from "../../support/turns.ts";
import { Web } from "./support/web.ts";

const server = "https://mcp.example.com/mcp";
const origin = "https://mcp.example.com";
const issuer = "https://auth.example.com";
const pathDocument = `${origin}/.well-known/oauth-protected-resource/mcp`;
const rootDocument = `${origin}/.well-known/oauth-protected-resource`;
const metadata = `${issuer}/.well-known/oauth-authorization-server`;
const described = { resource: server, authorization_servers: [issuer] };

/** A web in which the server is described there, and its authorization server is found. */
function webWith(document: string, changes: object = {}): Web {
  return new Web().describe(document, { ...described, ...changes }).issue(metadata, issuer);
}

describe("where the metadata of a server is", () => {
  test.each([
    [
      "resource_metadata of the challenge decides",
      'Bearer resource_metadata="https://docs.example.com/notes.json"',
      "https://docs.example.com/notes.json",
      ["https://docs.example.com/notes.json"],
    ],
    ["otherwise it is at the path of the server", "Bearer", pathDocument, [pathDocument]],
    ["otherwise at the root", "Bearer", rootDocument, [pathDocument, rootDocument]],
    [
      "a document that the challenge names in vain is not asked for twice",
      `Bearer resource_metadata="${pathDocument}"`,
      rootDocument,
      [pathDocument, rootDocument],
    ],
    [
      "an address of the challenge may be relative",
      'Bearer resource_metadata="/notes.json"',
      `${origin}/notes.json`,
      [`${origin}/notes.json`],
    ],
  ])("%s [CL-PRM-USE, CL-PRM-ORDER]", async (_, challenge, document, asked) => {
    const web = webWith(document);
    web.challenge = challenge;
    const { url, params } = await web.connect();
    expect(web.urls).toEqual([...asked, metadata, `${issuer}/token`]);
    expect([url, params["resource"]]).toEqual([`${issuer}/token`, server]);
  });

  test("the path and the query of the server are part of the address", async () => {
    const web = new Web(`${origin}/a/b?tenant=1`);
    web.describe(`${rootDocument}/a/b?tenant=1`, { ...described, resource: web.server });
    web.issue(metadata, issuer);
    expect((await web.connect()).params["resource"]).toBe(`${origin}/a/b?tenant=1`);
  });

  test.each([
    [500, "responds with HTTP status 500"],
    [503, "responds with HTTP status 503"],
  ])("status %i is no reason to look elsewhere", async (status, problem) => {
    const web = webWith(rootDocument);
    web.places[pathDocument] = { status };
    expect(await web.failure()).toBe(`metadata: ${pathDocument} ${problem}`);
    expect(web.urls).toEqual([pathDocument]);
  });

  test.each([400, 401, 403, 404, 405, 410])("after status %i the next one is tried", async (status) => {
    const web = webWith(rootDocument);
    web.places[pathDocument] = { status };
    expect((await web.connect()).url).toBe(`${issuer}/token`);
  });
});

describe("WWW-Authenticate", () => {
  const document = "https://docs.example.com/notes.json";
  test.each([
    [
      "after the challenge of another scheme",
      `Basic realm="a, Bearer b=c", Bearer resource_metadata="${document}"`,
    ],
    [
      "with escapes",
      `Bearer realm="\\"Notes\\", \\\\", resource_metadata="${document.replace("/n", "\\/n")}"`,
    ],
    ["without quotes", `Bearer error=invalid_token, resource_metadata=${document}`],
    ["with blanks around the sign", `Bearer resource_metadata = "${document}"`],
    ["in any case", `BEARER Resource_Metadata="${document}"`],
    ["of DPoP", `DPoP algs="ES256", resource_metadata="${document}"`],
    [
      "of both schemes, in the second",
      `Bearer realm="x", DPoP algs="ES256", resource_metadata="${document}"`,
    ],
    ["without a scheme", `resource_metadata="${document}"`],
    ["with semicolons", `Bearer realm="x"; resource_metadata="${document}"`],
    [
      "after a text that lacks its quotes",
      `Bearer error_description=The token expired, resource_metadata="${document}"`,
    ],
    ["without the last quote", `Bearer resource_metadata="${document}`],
    [
      "twice: the first one counts",
      `Bearer resource_metadata="${document}", resource_metadata="https://x.example"`,
    ],
  ])("is understood %s [CL-401]", async (_, challenge) => {
    const web = webWith(document);
    web.challenge = challenge;
    await web.connect();
    expect(web.urls[0]).toBe(document);
  });

  test("means only the parameters of its own challenge", async () => {
    const web = webWith(pathDocument);
    web.challenge = `Basic resource_metadata="${document}", Negotiate abc==, Bearer realm="x"`;
    await web.connect();
    expect(web.urls[0]).toBe(pathDocument);
  });
});

describe("what the metadata of a server says", () => {
  const root = [rootDocument, rootDocument] as const;
  test.each([
    ["the server", server, pathDocument, server],
    ["the server in capitals", "HTTPS://MCP.Example.com/mcp", pathDocument, server],
    ["the server with its port", "https://mcp.example.com:443/mcp", pathDocument, server],
    ["the server with a fragment", `${server}#notes`, pathDocument, server],
    ["a server at the root, without a slash", `${origin}/`, ...root, origin],
    ["a server at the root, with a slash", origin, ...root, `${origin}/`],
    ["the origin, in the document at the root", server, ...root, origin],
  ])("resource may name %s [CL-RESOURCE-SPECIFIC, CL-RESOURCE-FORM, CL-RESOURCE]", async (...row) => {
    const [, address, document] = row;
    const resource = row.at(-1) as string;
    const web = new Web(address).describe(document as string, { ...described, resource });
    expect((await web.issue(metadata, issuer).connect()).params["resource"]).toBe(resource);
  });

  test.each([
    ["another host", "https://mcp.example.org/mcp"],
    ["a host that looks the same", "https://mcp.exаmple.com/mcp"],
    ["another path", `${origin}/other`],
    ["a trailing slash", `${server}/`],
    ["the origin, in a document that is not at the root", origin],
    ["another scheme", "http://mcp.example.com/mcp"],
    ["a longer host", "https://mcp.example.com.evil.example/mcp"],
    ["nothing", undefined],
    ["a list", [server]],
  ])("is refused if resource is %s [CL-RESOURCE-MISMATCH]", async (_, resource) => {
    const web = webWith(pathDocument, { resource });
    const failure = await web.failure();
    expect(failure).toMatch(/^resource: /);
    const ascii = JSON.stringify(resource ?? null).replace("а", "\\u0430");
    expect(failure).toContain(`"resource": ${resource === undefined ? "nothing" : ascii}`);
    expect(failure).toContain(`${pathDocument} has`);
    expect(failure).toContain(`must have "${server}"`);
    expect(failure).toMatch(/^[ -~]*$/);
    expect(web.urls).toEqual([pathDocument]);
  });

  test("must name what the user expects, where that is not the server [CL-RESOURCE-MISMATCH]", async () => {
    const gateway = "https://gateway.example.com/notes";
    const web = webWith(pathDocument, { resource: gateway });
    expect((await web.connect({ resource: gateway })).params["resource"]).toBe(gateway);
    const other = webWith(pathDocument);
    expect(await other.failure({ resource: gateway })).toContain(`must have "${gateway}"`);
  });

  test("at the root may name the origin, unless the user says which resource it must be [CL-RESOURCE-MISMATCH]", async () => {
    const web = webWith(rootDocument, { resource: origin });
    const failure = await web.failure({ resource: server });
    expect(failure).toMatch(/^resource: /);
    expect(failure).toContain(`has "resource": "${origin}", but must have "${server}"`);
    // No token is requested.
    expect(web.urls).toEqual([pathDocument, rootDocument]);
    expect((await webWith(rootDocument).connect({ resource: server })).params["resource"]).toBe(server);
  });

  test.each([[undefined], [[]], ["https://auth.example.com"], [[7]], [null], [{ 0: issuer }]])(
    "says what to add if authorization_servers is %j",
    async (issuers) => {
      const web = webWith(pathDocument, { authorization_servers: issuers });
      const remedy = 'must name the issuer in "authorization_servers": add a list of URLs';
      expect(await web.failure()).toBe(`metadata: ${pathDocument} ${remedy}`);
    },
  );
});

describe("where the metadata of an authorization server is", () => {
  const tenant = `${issuer}/tenant`;
  const oauthRoot = `${issuer}/.well-known/oauth-authorization-server`;
  const openidRoot = `${issuer}/.well-known/openid-configuration`;
  const ofTenant = [
    `${oauthRoot}/tenant`,
    `${openidRoot}/tenant`,
    `${tenant}/.well-known/openid-configuration`,
  ];
  test.each([
    ["without a path, for OAuth [CL-AS-DISCOVERY-8414, CL-AS-ORDER-ROOT]", issuer, [oauthRoot]],
    ["without a path, for OpenID [CL-AS-DISCOVERY-BOTH, CL-AS-ORDER-ROOT]", issuer, [oauthRoot, openidRoot]],
    ["with a slash [CL-AS-ORDER-ROOT]", `${issuer}/`, [oauthRoot]],
    ["with a path, first [CL-AS-DISCOVERY-8414, CL-AS-ORDER-PATH]", tenant, ofTenant.slice(0, 1)],
    ["with a path, second [CL-AS-DISCOVERY-BOTH, CL-AS-ORDER-PATH]", tenant, ofTenant.slice(0, 2)],
    ["with a path, third [CL-AS-DISCOVERY-BOTH, CL-AS-ORDER-PATH]", tenant, ofTenant],
    ["with a path and a slash [CL-AS-ORDER-PATH]", `${tenant}/`, ofTenant],
  ])("an issuer %s", async (_, name, asked) => {
    const web = new Web().describe(pathDocument, { ...described, authorization_servers: [name] });
    await web.issue(asked.at(-1) ?? "", name).connect();
    expect(web.urls).toEqual([pathDocument, ...asked, `${issuer}/token`]);
  });

  test("an issuer without metadata is refused with the addresses that were tried", async () => {
    const web = new Web().describe(pathDocument, { ...described, authorization_servers: [tenant] });
    const remedy = `must serve its metadata at one of ${ofTenant.join(", ")}`;
    expect(await web.failure()).toBe(`metadata: The authorization server "${tenant}" ${remedy}`);
  });

  test("an issuer with a query is refused", async () => {
    const web = new Web().describe(pathDocument, { ...described, authorization_servers: [`${issuer}?a=b`] });
    web.issue(metadata, `${issuer}?a=b`);
    expect(await web.failure()).toMatch(
      /^metadata: The authorization server "https:..auth.example.com\/\?…"/,
    );
  });
});

describe("what the metadata of an authorization server says", () => {
  test.each([
    ["a trailing slash", `${issuer}/`],
    ["another host", "https://auth.example.org"],
    ["a host that looks the same", "https://аuth.example.com"],
    ["capitals", "https://AUTH.example.com"],
    ["its port", "https://auth.example.com:443"],
    ["another path", `${issuer}/tenant`],
    ["nothing", undefined],
    ["a number", 7],
  ])("is not used if issuer has %s [CL-AS-ISSUER-MATCH]", async (_, other) => {
    const web = webWith(pathDocument).issue(metadata, issuer, { issuer: other });
    const failure = await web.failure();
    expect(failure).toMatch(/^issuer: /);
    expect(failure).toContain(`${metadata} has "issuer": `);
    expect(failure).toContain(`must have "${issuer}"`);
    expect(failure).toMatch(/^[ -~]*$/);
    expect(web.asked.some(({ method }) => method === "POST")).toBe(false);
  });

  test.each([
    ["token_endpoint", undefined, "metadata"],
    ["token_endpoint", 7, "metadata"],
    ["authorization_endpoint", ["https://auth.example.com/authorize"], "metadata"],
    ["authorization_endpoint", "/authorize", "forbidden-address"],
    ["authorization_endpoint", "javascript:alert(document.cookie)", "forbidden-address"],
    ["authorization_endpoint", "data:text/html,<script>alert(1)</script>", "forbidden-address"],
    ["authorization_endpoint", "vbscript:msgbox(1)", "forbidden-address"],
    ["authorization_endpoint", "file:///etc/passwd", "forbidden-address"],
    ["authorization_endpoint", "http://auth.example.com/authorize", "forbidden-address"],
    ["authorization_endpoint", "https://192.168.0.1/reboot", "forbidden-address"],
    ["registration_endpoint", "https://user:password@auth.example.com/register", "forbidden-address"],
    ["token_endpoint", "https://auth.example.com/token#x", "forbidden-address"],
    ["token_endpoint", "https://169.254.169.254/latest/meta-data", "forbidden-address"],
    ["token_endpoint", `https://auth.example.com/${"x".repeat(3000)}`, "forbidden-address"],
  ])(
    "is refused if %s is %j [SEC-AUTHURL-SCHEME, SEC-AUTHURL-SANITIZE, SEC-SSRF-HTTPS, SEC-SSRF-CONSIDER]",
    async (name, value, problem) => {
      const web = webWith(pathDocument).issue(metadata, issuer);
      const { body } = web.places[metadata] as { body: object };
      web.describe(metadata, { ...body, [name]: value });
      const failure = await web.failure();
      expect(failure.startsWith(`${problem}: `)).toBe(true);
      expect(failure.length).toBeLessThan(1000);
      expect(web.asked.some(({ method }) => method === "POST")).toBe(false);
    },
  );

  test("lists that are none are left out", async () => {
    const web = webWith(pathDocument).issue(metadata, issuer, {
      scopes_supported: "all",
      grant_types_supported: { includes: true },
      token_endpoint_auth_methods_supported: 7,
      code_challenge_methods_supported: null,
    });
    expect((await web.connect()).url).toBe(`${issuer}/token`);
  });
});

describe("a server of 2025-03-26, which has no metadata of its own", () => {
  const atRoot = `${origin}/.well-known/oauth-authorization-server`;

  test.each([origin, `${origin}/`])(
    "has an authorization server at its root, %s [AUTH25-BASE-URL, AUTH25-NO-PRM]",
    async (name) => {
      const web = new Web().issue(atRoot, name, { token_endpoint: `${origin}/oauth/token` });
      const { url, params } = await web.connect();
      expect([url, params["resource"]]).toEqual([`${origin}/oauth/token`, server]);
      expect(web.urls.slice(0, -1)).toEqual([pathDocument, rootDocument, atRoot]);
    },
  );

  test("may not name another issuer [AUTH25-BASE-URL]", async () => {
    const web = new Web().issue(atRoot, "https://other.example.com");
    expect(await web.failure()).toMatch(/^issuer: /);
  });

  test("has its endpoints at fixed addresses, if nothing else is found [AUTH25-FALLBACK]", async () => {
    const web = new Web();
    web.places[`${origin}/token`] = { body: { access_token: "t0ken", token_type: "Bearer" } };
    expect((await web.connect()).url).toBe(`${origin}/token`);
    const openid = `${origin}/.well-known/openid-configuration`;
    expect(web.urls).toEqual([pathDocument, rootDocument, atRoot, openid, `${origin}/token`]);
  });

  test("registers clients, and lets people sign in, at fixed addresses [AUTH25-FALLBACK]", async () => {
    const web = new Web();
    web.places[`${origin}/register`] = { status: 201, body: { client_id: "new" } };
    const opened = deferred<string>();
    const auth = oauth({ fetch: web.fetch, open: opened.resolve });
    const ending = new AbortController();
    const connecting = connect(web.server, { auth, fetch: web.fetch, signal: ending.signal }).catch(() => {});
    const url = new URL(await opened.promise);
    expect([url.origin + url.pathname, url.searchParams.get("client_id")]).toEqual([
      `${origin}/authorize`,
      "new",
    ]);
    ending.abort();
    await connecting;
  });
});

test("MCP-Protocol-Version is sent with each request for metadata [AUTH25-VERSION-HEADER]", async () => {
  const web = webWith(rootDocument);
  await web.connect();
  const sent = web.asked.map(({ headers }) => headers.get("mcp-protocol-version"));
  expect(sent).toEqual([expect.stringMatching(/^\d{4}-/), sent[0], sent[0], null]);
});
