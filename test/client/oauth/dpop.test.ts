// Tokens that are bound to a key (DPoP): proofs at the authorization server and at the MCP server, with their nonces.
import { connect, type McpClient } from "halyard/client";
import {
  clientCredentials,
  type ClientCredentialsOptions,
  memoryStore,
  oauth,
  type OAuth,
} from "halyard/client/oauth";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, onTestFinished, test } from "vitest";
import { AuthorizationServer, registered } from "../../support/authorization-server.ts";
import { quick } from "../../support/http-script.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { newestModern } from "../../support/revisions.ts";
import { refusal, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { signInByFetch } from "../../support/sign-in.ts";
import { DpopServer } from "./support/dpop-server.ts";
import { failure, open } from "./support/person.ts";

interface Started {
  readonly issuer: AuthorizationServer;
  readonly server: DpopServer;
  /** What a service needs there. */
  readonly robot: ClientCredentialsOptions;
}

/** A real authorization server, and a server that takes its tokens. */
async function start(requireDpopNonce = false): Promise<Started> {
  const issuer = await AuthorizationServer.startForTest({ requireDpopNonce });
  const server = await DpopServer.start(issuer);
  return { issuer, server, robot: { ...registered.robot, issuer: issuer.issuer, dpop: true } };
}

async function connected({ url }: DpopServer, auth: OAuth): Promise<McpClient> {
  const client = await connect(url, { auth, backoff: quick, revision: newestModern });
  onTestFinished(() => client.close());
  return client;
}

describe("a real authorization server", () => {
  test("binds the token to a key, and each request proves it anew", async () => {
    const { issuer, server, robot } = await start();
    const client = await connected(server, clientCredentials(robot));
    const calls = await Promise.all([1, 2, 3].map(() => client.callTool("whoami")));
    for (const { content } of calls) expect(content).toMatchObject([{ text: `robot of ${issuer.issuer}` }]);
    expect(server.problems).toEqual([]);
    expect(server.proofs.length).toBeGreaterThan(3);
    expect(new Set(server.proofs.map(({ jti }) => jti)).size).toBe(server.proofs.length);
    expect(new Set(server.proofs.map(({ jkt }) => jkt)).size).toBe(1);
    expect(server.proofs.every(({ nonce }) => nonce === undefined)).toBe(true);
  });

  test("gets the nonce that it demands, with one more request", async () => {
    const { issuer, server, robot } = await start(true);
    await connected(server, clientCredentials(robot));
    expect(issuer.asked.get("/token")).toBe(2);
    // Its nonce is not for the MCP server.
    expect(server.proofs.every(({ nonce }) => nonce === undefined)).toBe(true);
  });

  test("refreshes tokens only with the key that they are bound to", async () => {
    const { issuer, server } = await start(true);
    const client = await connected(
      server,
      oauth({ open: signInByFetch, dpop: true, scopes: ["notes:read"] }),
    );
    issuer.asked.clear();
    server.revokeTokens();
    await client.callTool("whoami");
    expect(server.problems).toEqual([]);
    expect(new Set(server.proofs.map(({ jkt }) => jkt)).size).toBe(1);
    expect(issuer.asked.get("/token")).toBe(1);
    expect(issuer.asked.has("/auth")).toBe(false);
  });
});

describe("the MCP server", () => {
  test("gets the nonce that it demands, and each later one", async () => {
    const { server, robot } = await start();
    server.nextNonce = () => `nonce-${server.nonces.length}`;
    const client = await connected(server, clientCredentials(robot));
    for (let call = 0; call < 3; call++) await client.callTool("whoami");
    expect(server.problems).toEqual([]);
    const [first, ...later] = server.proofs.map(({ nonce }) => String(nonce));
    expect(first).toBe("undefined");
    expect(later.every((nonce) => server.nonces.includes(nonce))).toBe(true);
    expect(new Set(later).size).toBe(later.length);
    expect(later.length).toBeGreaterThan(3);
  });

  test("that is never content with a nonce is given up on, without another token", async () => {
    const { issuer, server, robot } = await start();
    server.refusal = "use_dpop_nonce";
    await expect(connected(server, clientCredentials(robot))).rejects.toMatchObject({ code: "NEEDS_AUTH" });
    expect(issuer.asked.get("/token")).toBe(1);
  });

  test("that knows no DPoP refuses the token, and the error says why", async () => {
    const issuer = await AuthorizationServer.startForTest();
    const server = await ProtectedServer.startForTest({ authorizationServers: [issuer.issuer] });
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer, dpop: true });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("refused");
    expect(message).toContain("see that the server supports DPoP (or drop the option dpop)");
  });

  test("that refuses every proof is given up on", async () => {
    const { issuer, server, robot } = await start();
    server.refusal = "invalid_dpop_proof";
    const { problem, message } = await failure(connected(server, clientCredentials(robot)));
    expect(problem).toBe("refused");
    expect(message).toContain(issuer.issuer);
    expect(issuer.asked.get("/token")).toBe(1);
  });
});

test("the key is kept with the tokens, for the next process", async () => {
  const { issuer, server, robot } = await start();
  const store = memoryStore();
  await connected(server, clientCredentials({ ...robot, store }));
  await connected(server, clientCredentials({ ...robot, store }));
  expect(issuer.asked.get("/token")).toBe(1);
  expect(server.problems).toEqual([]);
  expect(new Set(server.proofs.map(({ jkt }) => jkt)).size).toBe(1);
});

describe("an authorization server", () => {
  /** One that a test can make do anything; its tokens never get as far as the server. */
  async function startScripted(): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer; auth: OAuth }> {
    const issuer = await ScriptedIssuer.start();
    issuer.clients.set("robot", {});
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer, dpop: true });
    return { issuer, server: await ProtectedServer.behind([issuer]), auth };
  }

  test("gets a proof for its token endpoint, which names no query", async () => {
    const { issuer, server, auth } = await startScripted();
    issuer.metadata = { token_endpoint: `${issuer.origin}/token?tenant=1` };
    await failure(open(server, auth));
    const proof = String(issuer.of("/token")[0]?.headers["dpop"]);
    expect(decodeProtectedHeader(proof)).toEqual({
      alg: "ES256",
      typ: "dpop+jwt",
      jwk: { kty: "EC", crv: "P-256", x: expect.any(String), y: expect.any(String) },
    });
    expect(decodeJwt(proof)).toEqual({
      htm: "POST",
      htu: `${issuer.origin}/token`,
      jti: expect.any(String),
      iat: expect.any(Number),
    });
  });

  test("that wants another nonce each time is asked twice", async () => {
    const { issuer, server, auth } = await startScripted();
    let count = 0;
    issuer.answers["/token"] = () => ({
      ...refusal("use_dpop_nonce"),
      headers: { "dpop-nonce": `nonce-${(count += 1)}` },
    });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("denied");
    expect(message).toContain("it wants another nonce each time");
    const proofs = issuer.of("/token").map(({ headers }) => decodeJwt(String(headers["dpop"])));
    expect(proofs.map(({ nonce }) => nonce)).toEqual([undefined, "nonce-1"]);
    expect(proofs[0]?.jti).not.toBe(proofs[1]?.jti);
  });

  test("gets no nonce that another one has given", async () => {
    const issuers = [await ScriptedIssuer.start(), await ScriptedIssuer.start()] as const;
    const server = await ProtectedServer.behind(issuers);
    const auth = oauth({ open: signInByFetch, dpop: true });
    const noncesAt = (issuer: ScriptedIssuer): unknown[] =>
      issuer.of("/token").map(({ headers }) => decodeJwt(String(headers["dpop"])).nonce);
    for (const [index, issuer] of issuers.entries()) {
      server.announce(issuer.issuer);
      issuer.answers["/token"] = {
        ...refusal("invalid_request"),
        headers: { "dpop-nonce": `nonce of ${index}` },
      };
      await failure(open(server, auth));
      await failure(open(server, auth));
    }
    // Each gets its own, from the second time on.
    expect(issuers.map(noncesAt)).toEqual([
      [undefined, "nonce of 0"],
      [undefined, "nonce of 1"],
    ]);
  });

  test("that issues a token which is not bound to the key is refused", async () => {
    const { server, auth } = await startScripted();
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("token");
    expect(message).toContain(
      'issued a token with "token_type": "Bearer", but it must be dpop: enable DPoP for this client there',
    );
    expect(server.credentials).toEqual([undefined]);
  });

  test("that rejects the proof for its time shows which clock is wrong", async () => {
    const { issuer, server, auth } = await startScripted();
    const date = new Date(Date.now() - 600_000).toUTCString();
    issuer.answers["/token"] = { ...refusal("invalid_dpop_proof"), headers: { date } };
    const { message } = await failure(open(server, auth));
    expect(message).toContain("check the clock of this machine, or drop the option dpop");
    expect(message).toMatch(
      /The clock of this machine is 60[0-2] s ahead of that of the authorization server/,
    );
  });
});
