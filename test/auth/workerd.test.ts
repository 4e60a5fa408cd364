// bearerAuth under workerd: web standards are all that it needs.
import { SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorker, type Worker } from "../transports/fetch/workerd.ts";
import { modernPost } from "../support/http.ts";
import { modernRequest } from "../support/raw.ts";
import { makeKey, type SigningKey } from "../support/signing-keys.ts";

let worker: Worker;
let key: SigningKey;
beforeAll(async () => {
  key = await makeKey();
  const { d: _, ...publicJwk } = key.jwk;
  worker = await startWorker("protected-worker", { KEYS: JSON.stringify({ keys: [publicJwk] }) });
});
afterAll(() => worker.stop());

function call(token?: string): Promise<Response> {
  const { body, headers } = modernPost(modernRequest(1, "tools/call", { name: "hello" }));
  return fetch(`${worker.origin}/mcp`, {
    method: "POST",
    headers: { ...(headers as Record<string, string>), ...(token && { authorization: `Bearer ${token}` }) },
    body: body as string,
  });
}

function tokenWith(scope: string): Promise<string> {
  const claims = { iss: "https://auth.example", sub: "alice", aud: "https://worker.example/mcp", scope };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256", kid: key.kid })
    .setExpirationTime("1 minute")
    .sign(key.privateKey);
}

test("bearerAuth verifies tokens in a Worker [RS-401, RS-403, RS-VALIDATE]", async () => {
  expect((await call()).status).toBe(401);
  expect((await call(await tokenWith("other"))).status).toBe(403);
  const reply = await call(await tokenWith("greet"));
  expect(await reply.json()).toMatchObject({ result: { content: [{ text: "Hello alice" }] } });
});

test("bearerAuth publishes its metadata in a Worker [RS-PRM]", async () => {
  const reply = await fetch(`${worker.origin}/.well-known/oauth-protected-resource/mcp`);
  expect(await reply.json()).toMatchObject({ resource: "https://worker.example/mcp" });
});
