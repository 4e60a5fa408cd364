// Metadata that may be used again, as its servers say: a 401 does not make the client fetch it again, a failure does.
import { describe, expect, test } from "vitest";
import { passSeconds } from "../../support/clock.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { refusal, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { failure, open, person } from "./support/person.ts";

/** An issuer whose metadata has these headers, and a server whose metadata may be used for 300 seconds. */
async function start(
  headers: Readonly<Record<string, string>> = { "cache-control": "public, max-age=300" },
): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer; fetched: () => number[] }> {
  const issuer = await ScriptedIssuer.start();
  issuer.answers[issuer.metadataPath] = () => ({ body: issuer.document, headers });
  const server = await ProtectedServer.behind([issuer]);
  const fetched = (): number[] => [
    server.asked.filter(({ path }) => path === server.metadataPaths.path).length,
    issuer.of(issuer.metadataPath).length,
  ];
  return { issuer, server, fetched };
}

describe("metadata", () => {
  test("that may be used again is not fetched for the next 401, nor before tokens expire", async () => {
    const { issuer, server, fetched } = await start();
    const client = await open(server, person());
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    passSeconds(290);
    await client.callTool("whoami");
    expect(issuer.grantsAsked).toEqual(["authorization_code", "refresh_token", "refresh_token"]);
    expect(fetched()).toEqual([1, 1]);
  });

  test.each([
    ["says nothing", {}, 0],
    ["is no longer fresh", { "cache-control": "max-age=60" }, 60],
    ["was not fresh when it arrived", { "cache-control": "max-age=300", age: "300" }, 0],
    ["must not be stored", { "cache-control": "no-store, max-age=300" }, 0],
    ["must be checked each time", { "cache-control": "max-age=300, No-Cache" }, 0],
    ["says what makes no sense", { "cache-control": "max-age=soon" }, 0],
  ])("that %s is fetched for each 401", async (_, headers, seconds) => {
    const { issuer, server, fetched } = await start(headers);
    const client = await open(server, person());
    passSeconds(seconds);
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    expect(fetched()).toEqual([2, 2]);
  });

  test("that says it is fresh for a year is fetched again after an hour", async () => {
    const { issuer, server, fetched } = await start({ "cache-control": "max-age=31536000" });
    issuer.tokenSeconds = 100_000;
    const body = { resource: server.url, authorization_servers: [issuer.issuer] };
    const headers = { "cache-control": "max-age=31536000" };
    server.answers[server.metadataPaths.path] = { body, headers };
    const client = await open(server, person());
    for (const seconds of [3000, 700]) {
      passSeconds(seconds);
      issuer.forgetAccessTokens();
      await client.callTool("whoami");
    }
    expect(fetched()).toEqual([2, 2]);
  });

  test("is fetched again when what it led to has failed", async () => {
    const { issuer, server, fetched } = await start();
    const client = await open(server, person());
    issuer.forgetAccessTokens();
    issuer.answers["/token"] = refusal("temporarily_unavailable", 503);
    await failure(client.callTool("whoami"));
    expect(fetched()).toEqual([1, 1]);
    delete issuer.answers["/token"];
    await client.callTool("whoami");
    expect(fetched()).toEqual([2, 2]);
  });

  test("is fetched again when the server names another place for it", async () => {
    const { issuer, server, fetched } = await start();
    const client = await open(server, person());
    const moved = "/.well-known/oauth-protected-resource/moved";
    server.answers[moved] = { body: { resource: server.url, authorization_servers: [issuer.issuer] } };
    server.answers["/mcp"] = ({ headers }) =>
      issuer.claimsOf(headers.authorization?.replace("Bearer ", "") ?? "")
        ? undefined
        : {
            status: 401,
            headers: { "www-authenticate": `Bearer resource_metadata="${server.origin}${moved}"` },
          };
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    expect(server.asked.filter(({ path }) => path === moved)).toHaveLength(1);
    expect(fetched()).toEqual([1, 2]);
  });

  test("that leads to tokens which the server refuses is fetched again within the same call", async () => {
    const [first, second] = [await start(), await ScriptedIssuer.start()];
    const server = await ProtectedServer.behind([first.issuer, second]);
    const client = await open(server, person());
    server.announce(second.issuer);
    const challenge = `Bearer resource_metadata="${server.origin}${server.metadataPaths.path}"`;
    const port = new URL(first.issuer.issuer).port;
    server.answers["/mcp"] = ({ headers }) =>
      headers.authorization?.endsWith(`-of-${port}`)
        ? { status: 401, headers: { "www-authenticate": challenge } }
        : undefined;
    expect(await client.callTool("whoami")).toMatchObject({
      content: [{ text: `alice of ${second.issuer}` }],
    });
    expect(first.issuer.grantsAsked).toEqual(["authorization_code", "refresh_token"]);
  });
});
