// Mistakes of a first protected server: each row has the code and the whole error message.
import { bearerAuth, type RequestHead } from "halyard/auth";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { describe, expect, test } from "vitest";

/** As JavaScript sees it: nothing has a type. */
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

const whole = { resource: "https://mcp.example.com/mcp", authorizationServers: ["https://auth.example.com"] };
const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
const jwk = await exportJWK(publicKey);
const privateJwk = await exportJWK(privateKey);
const kind = "jwks must be a URL, or an object with a list of keys";

describe("keys", () => {
  test.each<[message: string, jwks: unknown]>([
    [
      'jwks is a PEM text: pass { keys: [await exportJWK(await importSPKI(pem, "ES256"))] } of jose',
      "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----",
    ],
    [`${kind}, not a function: pass the URL itself`, () => publicKey],
    [`${kind}, not [an object]: put it into { keys: [ … ] }`, [jwk]],
    [`${kind}: put it into { keys: [ … ] }`, jwk],
    [`${kind}, not an instance of CryptoKey: pass { keys: [await exportJWK(key)] } of jose`, publicKey],
    ["jwks.keys is empty: pass the public keys of the issuer", { keys: [] }],
    ["jwks.keys[0] is not a JWK: pass await exportJWK(key) of jose", { keys: [publicKey] }],
    ["jwks.keys[1] is not a JWK: pass await exportJWK(key) of jose", { keys: [jwk, null] }],
    ["jwks.keys[0] is a private key: pass the public half", { keys: [privateJwk] }],
  ])("%s", (message, jwks) => {
    const write = (): unknown => bearerAuth({ ...whole, jwks: jwks as Untyped });
    expect(write).toThrow(expect.objectContaining({ message: `bearerAuth: ${message}` }));
  });
});

describe("a verify that throws", () => {
  const request = { header: () => "Bearer abc" } as unknown as RequestHead;
  const statusOf = async (thrown: unknown): Promise<unknown> =>
    ((await bearerAuth({ ...whole, verify: () => Promise.reject(thrown) }).authenticate(request)) as Untyped)
      .status;
  const named = (name: string): Error => Object.assign(new Error("text"), { name });
  const expired = new SignJWT({}).setProtectedHeader({ alg: "ES256" }).setExpirationTime(1).sign(privateKey);

  test.each<[what: string, thrown: () => unknown]>([
    [
      "jose's error for an expired token",
      async () => jwtVerify(await expired, publicKey).catch((error: unknown) => error),
    ],
    ["jose's error for what is no token", () => jwtVerify("abc", publicKey).catch((error: unknown) => error)],
    [
      "jose's error for a foreign signature",
      async () =>
        jwtVerify(await expired, (await generateKeyPair("ES256")).publicKey).catch((error: unknown) => error),
    ],
    ["the error of version 1 of the official SDK", () => new InvalidTokenError("expired")],
    [
      "the error of version 2 of the official SDK",
      () => new OAuthError(OAuthErrorCode.InvalidToken, "expired"),
    ],
    ["jsonwebtoken's error for an expired token", () => named("TokenExpiredError")],
    ["jsonwebtoken's error for any other", () => named("JsonWebTokenError")],
  ])("%s responds 401, so that the client gets another token", async (_, thrown) => {
    expect(await statusOf(await thrown())).toBe(401);
  });

  test.each<[what: string, thrown: unknown]>([
    ["any other error", new Error("connect ECONNREFUSED")],
    [
      "jose's error for keys that do not come",
      Object.assign(new Error("text"), { code: "ERR_JWKS_TIMEOUT" }),
    ],
    ["nothing", undefined],
  ])("%s responds 503, so that the client keeps its token", async (_, thrown) => {
    expect(await statusOf(thrown)).toBe(503);
  });
});

describe("verify", () => {
  const exp = Math.floor(Date.now() / 1000) + 60;
  const claims = { sub: "alice", aud: whole.resource, exp };
  const seconds = "must be a number of seconds since 1970";
  const request = {
    header: (name: string) => (name === "authorization" ? "Bearer abc" : undefined),
  } as RequestHead;
  const refusalOf = async (given: object): Promise<Untyped> =>
    bearerAuth({ ...whole, verify: () => ({ ...claims, ...given }) as Untyped }).authenticate(request);

  test.each<[problem: string, message: string, given: object]>([
    [
      "verify() returned exp, which looks like milliseconds, so the token was refused: it is in seconds, so divide it by 1000",
      "The token has no valid expiry",
      { exp: Date.now() + 60_000 },
    ],
    [
      `verify() returned exp, which ${seconds}, not an instance of Date, so the token was refused`,
      "The token has no valid expiry",
      { exp: new Date() },
    ],
    [
      `verify() returned exp, which ${seconds}, so the token was refused`,
      "The token has no valid expiry",
      { exp: String(exp) },
    ],
    [
      "verify() returned sub, which must be a text, so the token was refused",
      "The token has no subject",
      { sub: 5 },
    ],
  ])("%s", async (problem, message, given) => {
    expect(await refusalOf(given)).toMatchObject({ status: 401, message, problem });
  });

  test("may say that a token expires in the year 9999", async () => {
    expect(await refusalOf({ exp: 253_402_300_799 })).toMatchObject({ subject: "alice" });
  });

  test("says nothing of a token that has expired", async () => {
    expect(await refusalOf({ exp: 5 })).toMatchObject({ message: "The token has expired" });
    expect(await refusalOf({ exp: 5 })).not.toHaveProperty("problem");
  });
});
