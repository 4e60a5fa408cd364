// Which scopes the client asks for: at first, and when the server wants more.
import { describe, expect, test } from "vitest";
import { AuthRequired } from "halyard/client";
import { failing } from "../../support/http-script.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { failure, open, person } from "./support/person.ts";

/** Refuses requests without a token with this scope. */
function challengeWith(server: ProtectedServer, scope: string): void {
  server.answers["/mcp"] = ({ headers }) =>
    headers.authorization === undefined
      ? { status: 401, headers: { "www-authenticate": `Bearer scope="${scope}"` } }
      : undefined;
}

describe("the first sign-in asks for", () => {
  const rows: readonly [
    string,
    string | undefined,
    string[] | undefined,
    string[] | undefined,
    string | null,
  ][] = [
    [
      "what the challenge names, and no more [CL-SCOPE-ORDER, CL-SCOPE-AUTHORITATIVE, CL-SCOPE-LEAST]",
      "notes:read",
      ["other", "notes:write"],
      undefined,
      "notes:read",
    ],
    [
      "what the challenge names, though the metadata lists it not [CL-SCOPE-AUTHORITATIVE, CL-SCOPE-NO-ASSUME]",
      "notes:read",
      [],
      undefined,
      "notes:read",
    ],
    [
      "all that the metadata lists, where the challenge names none [CL-SCOPE-ORDER]",
      undefined,
      ["notes:read", "notes:write"],
      undefined,
      "notes:read notes:write",
    ],
    ["nothing, where neither names any [CL-SCOPE-ORDER]", undefined, undefined, undefined, null],
    [
      "nothing, where only the authorization server names any [CL-SCOPE-LEAST]",
      undefined,
      undefined,
      ["notes:read"],
      null,
    ],
    [
      "offline access, where the authorization server has that [CL-REFRESH-OFFLINE]",
      "notes:read",
      undefined,
      ["offline_access", "x"],
      "notes:read offline_access",
    ],
    [
      "no offline access where nothing else is asked for: alone it would cost the scopes that are granted by default",
      undefined,
      undefined,
      ["openid", "offline_access"],
      null,
    ],
    [
      "no offline access where the metadata lists no scope",
      undefined,
      [],
      ["openid", "offline_access"],
      null,
    ],
  ];

  test.each(rows)("%s", async (_, challenged, ofServer, ofIssuer, asked) => {
    const issuer = await ScriptedIssuer.start();
    issuer.metadata = { scopes_supported: ofIssuer };
    const server = await ProtectedServer.behind([issuer]);
    server.describeAs({
      resource: server.url,
      authorization_servers: [issuer.issuer],
      ...(ofServer && { scopes_supported: ofServer }),
    });
    if (challenged !== undefined) challengeWith(server, challenged);
    await open(server);
    expect(issuer.scopesAsked).toEqual([asked]);
  });

  test("what you want besides [CL-SCOPE-ORDER]", async () => {
    const issuer = await ScriptedIssuer.start();
    issuer.metadata = { scopes_supported: undefined };
    const server = await ProtectedServer.behind([issuer], { requiredScopes: ["notes:read"] });
    await open(server, person({ scopes: ["profile", "notes:read"] }));
    expect(issuer.scopesAsked).toEqual(["notes:read profile"]);
  });
});

/** A server that lets everybody in with `notes:read`, and whose authorization server has no offline access. */
async function start(): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer }> {
  const issuer = await ScriptedIssuer.start();
  issuer.metadata = { scopes_supported: undefined };
  const server = await ProtectedServer.behind([issuer]);
  challengeWith(server, "notes:read");
  return { issuer, server };
}

describe("a call that needs more scopes", () => {
  test("asks for them besides those of before, and is then sent again [CL-STEPUP, CL-SCOPE-UNION, CL-SCOPE-AUTHORITATIVE]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    expect(await client.callTool("write_note")).toMatchObject({ content: [{ text: "Noted" }] });
    expect(await client.callTool("burn_note")).toMatchObject({ content: [{ text: "Burnt" }] });
    expect(issuer.scopesAsked).toEqual([
      "notes:read",
      "notes:read notes:write",
      "notes:read notes:write notes:admin",
    ]);
  });

  test("signs in once for many calls at the same time [CL-STEPUP]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    await Promise.all(Array.from({ length: 20 }, () => client.callTool("write_note")));
    expect(issuer.scopesAsked).toEqual(["notes:read", "notes:read notes:write"]);
  });

  test("fails with the scope that is not granted, after one more sign-in; other calls continue [CL-STEPUP-LIMIT]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    issuer.token = { scope: "notes:read" };
    const { problem, message } = await failure(client.callTool("write_note"));
    expect(problem).toBe("refused");
    expect(message).toContain("notes:write");
    expect(message).toContain(issuer.issuer);
    await failure(client.callTool("write_note"));
    expect(issuer.scopesAsked).toHaveLength(2);
    expect(await client.callTool("whoami")).toMatchObject({
      content: [{ text: `alice of ${issuer.issuer}` }],
    });
  });

  test("ends although the server always names another scope [CL-STEPUP-LIMIT]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    let count = 0;
    server.answers["/mcp"] = ({ headers }) => {
      if (headers["mcp-method"] !== "tools/call") return undefined;
      const challenge = `Bearer error="insufficient_scope", scope="more:${++count}"`;
      return { status: 403, headers: { "www-authenticate": challenge } };
    };
    await failing(client.callTool("whoami"));
    expect(issuer.scopesAsked.length).toBeLessThanOrEqual(4);
  });

  test("fails at once where no scope is the reason [CL-STEPUP]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    server.answers["/mcp"] = { status: 403, headers: { "www-authenticate": "Bearer" } };
    expect(await failing(client.callTool("whoami"))).toBeInstanceOf(AuthRequired);
    expect(issuer.scopesAsked).toHaveLength(1);
  });
});
