// A token goes only to the server that it is for, and comes only from the authorization server that this server names.
import { memoryStore } from "halyard/client/oauth";
import { describe, expect, test } from "vitest";
import { ProtectedServer } from "../../support/protected-server.ts";
import { legacyDates, newestModern } from "../../support/revisions.ts";
import { refusal, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { failure, open, person } from "./support/person.ts";

async function start(): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer }> {
  const issuer = await ScriptedIssuer.start();
  return { issuer, server: await ProtectedServer.behind([issuer]) };
}

/** Everything that a stand-in was sent, as one text. */
const seenBy = ({ asked }: { readonly asked: readonly object[] }): string => JSON.stringify(asked);

describe("an access token", () => {
  const revisions = [newestModern, ...legacyDates.filter((date) => date > "2025")];

  test.each(revisions)(
    "goes in the header of every request, and never in an address: %s [CL-BEARER, CL-NO-QUERY]",
    async (revision) => {
      const { server } = await start();
      const client = await open(server, person(), { revision });
      await client.callTool("whoami");
      const listening = await client.listen({ tools: true });
      await listening.close();
      await client.close();
      const [, ...afterwards] = server.credentials;
      expect(afterwards.length).toBeGreaterThan(2);
      expect(new Set(afterwards.map((sent) => /^Bearer access-\d+-of-\d+$/.test(sent ?? "")))).toEqual(
        new Set([true]),
      );
      expect(server.asked.map(({ query }) => query.size)).toEqual(server.asked.map(() => 0));
    },
  );

  test("goes only to the server that it was issued for [CL-ONLY-AS-TOKENS]", async () => {
    const [issuer, other] = [await ScriptedIssuer.start(), await ScriptedIssuer.start()];
    const servers = [
      await ProtectedServer.behind([issuer]),
      await ProtectedServer.behind([issuer]),
      await ProtectedServer.behind([other]),
    ];
    const auth = person();
    const clients = await Promise.all(servers.map((server) => open(server, auth)));
    await Promise.all(clients.map((client) => client.callTool("whoami")));
    for (const { url, credentials } of servers) {
      const tokens = credentials.flatMap((sent) => sent?.replace("Bearer ", "") ?? []);
      const audiences = tokens.map((token) => (issuer.claimsOf(token) ?? other.claimsOf(token))?.aud);
      expect(new Set(audiences)).toEqual(new Set([url]));
    }
  });

  test("that the authorization server issues for another server is refused with both names [CL-ONLY-AS-TOKENS]", async () => {
    const { issuer, server } = await start();
    issuer.audience = "https://elsewhere.example/mcp";
    const { problem, message } = await failure(open(server));
    expect(problem).toBe("refused");
    expect(message).toContain(issuer.issuer);
    expect(message).toContain(server.url);
    expect(message).toContain("audience");
    expect(issuer.of("/authorize")).toHaveLength(1);
  });
});

describe("a refresh token", () => {
  test("goes to the token endpoint of its issuer alone, and into no address and no error [CL-REFRESH-CONFIDENTIAL]", async () => {
    const { issuer, server } = await start();
    const store = memoryStore();
    const client = await open(server, person({ store }));
    issuer.forgetAccessTokens();
    issuer.answers["/token"] = refusal("temporarily_unavailable", 503);
    const { message } = await failure(client.callTool("whoami"));
    expect(message).not.toMatch(/refresh-\d/);
    delete issuer.answers["/token"];
    await client.callTool("whoami");
    expect(issuer.grantsAsked.at(-1)).toBe("refresh_token");
    expect(issuer.of("/authorize")).toHaveLength(1);
    expect(seenBy(server)).not.toMatch(/refresh-\d/);
    expect(issuer.asked.map(({ query }) => query.get("refresh_token") ?? query.get("code"))).toEqual(
      issuer.asked.map(() => null),
    );
    const elsewhere = issuer.asked.filter(({ path }) => path !== "/token");
    expect(JSON.stringify(elsewhere)).not.toMatch(/refresh-\d/);
  });

  test("may be missing: the person signs in again when the access token has ended [CL-REFRESH-NO-ASSUME]", async () => {
    const { issuer, server } = await start();
    issuer.token = { refresh_token: undefined };
    const client = await open(server);
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["authorization_code", "authorization_code"]);
  });

  test("that was taken back leads to a sign-in, not to a failure [CL-REFRESH-NO-ASSUME]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    issuer.forgetAccessTokens();
    issuer.forgetRefreshTokens();
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["authorization_code", "refresh_token", "authorization_code"]);
  });
});

describe("a server that is not what it was", () => {
  test("and names another resource gets no other token [CL-RESOURCE-MISMATCH]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    const other = "https://bank.example/mcp";
    server.describeAs({ resource: other, authorization_servers: [issuer.issuer] });
    issuer.forgetAccessTokens();
    const { problem, message } = await failure(client.callTool("whoami"));
    expect(problem).toBe("resource");
    expect(message).toContain(server.url);
    expect(message).toContain(other);
    expect(issuer.grantsAsked).toEqual(["authorization_code"]);
  });

  test("and whose tokens are now for all of its origin gets those, and no refreshed ones of before [CL-RESOURCE]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    const { path, root } = server.metadataPaths;
    server.answers[path] = { status: 404 };
    server.answers[root] = { body: { resource: server.origin, authorization_servers: [issuer.issuer] } };
    issuer.forgetAccessTokens();
    issuer.audience = server.url;
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["authorization_code", "authorization_code"]);
    expect(issuer.of("/token").map(({ params }) => params["resource"])).toEqual([server.url, server.origin]);
  });

  test("and whose authorization server calls itself otherwise is refused, and the refresh token kept [CL-AS-ISSUER-MATCH, CL-REFRESH-CONFIDENTIAL]", async () => {
    const { issuer, server } = await start();
    const evil = await ScriptedIssuer.start();
    const client = await open(server);
    issuer.metadata = { issuer: evil.issuer, token_endpoint: `${evil.origin}/token` };
    issuer.forgetAccessTokens();
    const { problem, message } = await failure(client.callTool("whoami"));
    expect(problem).toBe("issuer");
    expect(message).toContain(issuer.issuer);
    expect(message).toContain(evil.issuer);
    expect(evil.asked).toEqual([]);
    issuer.metadata = {};
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["authorization_code", "refresh_token"]);
  });

  test("and no longer takes what its authorization server issues ends in an error, not in sign-ins without end [CL-401]", async () => {
    const { issuer, server } = await start();
    const client = await open(server);
    server.answers["/mcp"] = { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } };
    const { problem } = await failure(client.callTool("whoami"));
    expect(problem).toBe("refused");
    expect(issuer.of("/authorize").length).toBeLessThanOrEqual(3);
  });
});

test("an authorization server that sends people to another one does not get the code of that one [CL-ISS-COMPARE, CL-ISS-RECORD, AUTH-OAUTH21-BCP]", async () => {
  const [evil, honest] = [await ScriptedIssuer.start(), await ScriptedIssuer.start()];
  const server = await ProtectedServer.behind([evil]);
  // It registers clients under a name that the other one knows, shows the page of that one, and waits for the code.
  honest.clients.set("known", {});
  evil.registration = { client_id: "known" };
  evil.metadata = {
    authorization_endpoint: `${honest.origin}/authorize`,
    authorization_response_iss_parameter_supported: undefined,
  };
  const { problem, message } = await failure(open(server));
  expect(problem).toBe("response");
  expect(message).toContain(evil.issuer);
  expect(message).toContain(honest.issuer);
  expect(evil.of("/token")).toEqual([]);
  expect(seenBy(evil)).not.toContain("code-");
});
