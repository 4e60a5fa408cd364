// How a client proves who it is at the token endpoint: by which method, with which secret or key, and what is said of one that cannot work.
import { generateKeyPairSync } from "node:crypto";
import { clientCredentials, type ClientKey } from "halyard/client/oauth";
import { exportJWK, exportPKCS8, generateKeyPair, importPKCS8, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { AuthorizationServer, registered } from "../../support/authorization-server.ts";
import { ProtectedServer } from "../../support/protected-server.ts";
import { type IssuerRequest, ScriptedIssuer } from "../../support/scripted-issuer.ts";
import { failure, open, person } from "./support/person.ts";

type Changes = Readonly<Record<string, unknown>>;

async function start(metadata: Changes = {}): Promise<{ issuer: ScriptedIssuer; server: ProtectedServer }> {
  const issuer = await ScriptedIssuer.start();
  issuer.metadata = metadata;
  issuer.clients.set("robot", {});
  return { issuer, server: await ProtectedServer.behind([issuer]) };
}

/** How a token request shows who sends it. */
function methodOf({ headers, params }: IssuerRequest): string {
  if (headers.authorization !== undefined) return "client_secret_basic";
  if (params["client_secret"] !== undefined) return "client_secret_post";
  if (params["client_assertion"] !== undefined) return "private_key_jwt";
  return "none";
}

const methodsUsed = (issuer: ScriptedIssuer): string[] => issuer.of("/token").map(methodOf);

describe("a secret", () => {
  const rows = [
    [undefined, "client_secret_basic"],
    [["client_secret_post", "client_secret_basic"], "client_secret_basic"],
    [["client_secret_post", "private_key_jwt"], "client_secret_post"],
  ] as const;

  test.each(rows)("is sent where %j is supported by %s [EXT-CC-AUTHN]", async (supported, method) => {
    const { issuer, server } = await start({ token_endpoint_auth_methods_supported: supported });
    await open(server, clientCredentials({ ...registered.robot, issuer: issuer.issuer }));
    expect(methodsUsed(issuer)).toEqual([method]);
  });

  test("may contain any character", async () => {
    const { issuer, server } = await start();
    const clientId = "ro-bot_1.x";
    const clientSecret = "päss: wörd+%20/?&=~!*'()";
    issuer.clients.set(clientId, {});
    await open(server, clientCredentials({ clientId, clientSecret, issuer: issuer.issuer }));
    const [request] = issuer.of("/token");
    const credentials = request?.headers.authorization?.slice("Basic ".length) ?? "";
    const [id = "", secret = ""] = atob(credentials).split(":");
    // Servers that forget to decode still find the id.
    expect(id).toBe(clientId);
    expect(new URLSearchParams(`secret=${secret}`).get("secret")).toBe(clientSecret);
  });

  test("is not sent where only keys are taken: the error names both", async () => {
    const { issuer, server } = await start({ token_endpoint_auth_methods_supported: ["private_key_jwt"] });
    const auth = clientCredentials({ ...registered.robot, issuer: issuer.issuer });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("registration");
    expect(message).toBe(
      `The client "robot" has a secret (for client_secret_basic, client_secret_post), but "${issuer.issuer}" expects "private_key_jwt": pass what it expects, or change that there`,
    );
    expect(issuer.of("/token")).toEqual([]);
  });

  const registrations = [
    [{ token_endpoint_auth_method: "client_secret_post", client_secret: "s" }, "client_secret_post"],
    [{ token_endpoint_auth_method: "client_secret_basic", client_secret: "s" }, "client_secret_basic"],
    [{ token_endpoint_auth_method: "none", client_secret: "s" }, "none"],
    [{ token_endpoint_auth_method: "none" }, "none"],
  ] as const;

  test.each(registrations)("of a registration with %j is sent by %s", async (registration, method) => {
    const { issuer, server } = await start();
    issuer.registration = registration;
    await open(server, person());
    expect(methodsUsed(issuer)).toEqual([method]);
  });

  test("that a registration promises must be there", async () => {
    const { issuer, server } = await start();
    issuer.registration = { token_endpoint_auth_method: "client_secret_basic", client_secret: undefined };
    const { message } = await failure(open(server, person()));
    expect(message).toContain(
      `has no secret (for none), but "${issuer.issuer}" expects "client_secret_basic"`,
    );
    expect(issuer.of("/token")).toEqual([]);
  });
});

describe("a private key", () => {
  const keysOnly = { token_endpoint_auth_methods_supported: ["private_key_jwt"] };

  test.each(["JWK", "PEM", "PEM in one line", "CryptoKey"])(
    "as %s proves who the client is to a real authorization server [EXT-CC-AUTHN]",
    async (form) => {
      const issuer = await AuthorizationServer.startForTest();
      const server = await ProtectedServer.startForTest({ authorizationServers: [issuer.issuer] });
      const { privateKey, jwk } = issuer.robotKey;
      const pem = await exportPKCS8(privateKey);
      const keys: Readonly<Record<string, ClientKey>> = {
        JWK: jwk,
        PEM: { pem, alg: "ES256" },
        "PEM in one line": { pem: pem.replaceAll("\n", String.raw`\n`), alg: "ES256" },
        CryptoKey: privateKey,
      };
      const auth = clientCredentials({ ...registered.keyRobot, privateKey: keys[form] as ClientKey });
      const { content } = await (await open(server, auth)).callTool("whoami");
      expect(content).toMatchObject([{ text: `key-robot of ${issuer.issuer}` }]);
    },
  );

  test("of somebody else is refused by a real authorization server", async () => {
    const issuer = await AuthorizationServer.startForTest();
    const server = await ProtectedServer.startForTest({ authorizationServers: [issuer.issuer] });
    const { privateKey } = await generateKeyPair("ES256");
    const { problem, message } = await failure(
      open(server, clientCredentials({ ...registered.keyRobot, privateKey })),
    );
    expect(problem).toBe("denied");
    expect(message).toContain(`${issuer.issuer}/token refused with "invalid_client"`);
  });

  const algorithms = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

  test.each(algorithms)("signs with %s, as JWK and as PEM", async (alg) => {
    const { issuer, server } = await start(keysOnly);
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), alg, kid: "first", use: "sig", key_ops: ["sign"] };
    const pem = await exportPKCS8(privateKey);
    await open(server, clientCredentials({ clientId: "robot", privateKey: jwk }));
    await open(server, clientCredentials({ clientId: "robot", privateKey: { pem, alg, kid: "second" } }));
    const headers = await Promise.all(
      issuer.of("/token").map(async ({ params }) => {
        const { protectedHeader } = await jwtVerify(params["client_assertion"] ?? "", publicKey);
        return protectedHeader;
      }),
    );
    expect(headers).toEqual([
      { alg, kid: "first" },
      { alg, kid: "second" },
    ]);
  });

  test("signs a new assertion for each request, for this issuer and for a minute", async () => {
    const { issuer, server } = await start(keysOnly);
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    const client = await open(server, clientCredentials({ clientId: "robot", privateKey }));
    issuer.forgetAccessTokens();
    await client.callTool("whoami");
    const assertions = issuer.of("/token").map(({ params }) => params["client_assertion"] ?? "");
    const claims = await Promise.all(
      assertions.map(async (assertion) => (await jwtVerify(assertion, publicKey)).payload),
    );
    expect(claims).toHaveLength(2);
    for (const { iss, sub, aud, exp = 0, iat = 0 } of claims) {
      expect([iss, sub, aud]).toEqual(["robot", "robot", issuer.issuer]);
      expect(exp - iat).toBe(60);
    }
    expect(claims[0]?.jti).not.toBe(claims[1]?.jti);
  });

  const guesses = [
    ["ES384", undefined, "ES384"],
    ["RS256", undefined, "RS256"],
    ["Ed25519", undefined, "EdDSA"],
    ["Ed25519", ["Ed25519"], "Ed25519"],
    ["EdDSA", ["ES256", "Ed25519"], "Ed25519"],
  ] as const;

  test.each(guesses)(
    "for %s without a name signs, where %j is supported, with %s",
    async (made, supported, alg) => {
      const { issuer, server } = await start({
        ...keysOnly,
        token_endpoint_auth_signing_alg_values_supported: supported,
      });
      const { privateKey } = await generateKeyPair(made, { extractable: true });
      const { alg: _, ...jwk } = await exportJWK(privateKey);
      await open(server, clientCredentials({ clientId: "robot", privateKey: jwk }));
      const [{ params } = { params: {} as Readonly<Record<string, string>> }] = issuer.of("/token");
      const [header = ""] = (params["client_assertion"] ?? "").split(".");
      expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg });
    },
  );

  test("is not used with an algorithm that the authorization server does not accept", async () => {
    const { issuer, server } = await start({
      ...keysOnly,
      token_endpoint_auth_signing_alg_values_supported: ["RS256", "PS256"],
    });
    const { privateKey } = await generateKeyPair("ES256");
    const { message } = await failure(open(server, clientCredentials({ clientId: "robot", privateKey })));
    expect(message).toBe(
      `The privateKey signs with ES256, but "${issuer.issuer}" accepts "RS256, PS256": use a key for one of these`,
    );
    expect(issuer.of("/token")).toEqual([]);
  });

  test.each(["RS256", "ES384", "EdDSA"])("for ES256 is not %s, whatever its options say", async (alg) => {
    const { issuer, server } = await start(keysOnly);
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const pem = await exportPKCS8(privateKey);
    const auth = clientCredentials({ clientId: "robot", privateKey: { pem, alg } });
    const { problem, message } = await failure(open(server, auth));
    expect(problem).toBe("token");
    expect(message).toContain(`The privateKey is damaged, or its algorithm is not ${alg}`);
    expect(issuer.of("/token")).toEqual([]);
  });
});

describe("options", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const text = (key: string | Buffer): { pem: string; alg: string } => ({ pem: String(key), alg: "RS256" });
  const locked = { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "p" } as const;
  const plain = String(rsa.privateKey.export({ type: "pkcs8", format: "pem" }));
  const rows: readonly [string, unknown, string][] = [
    [
      "PKCS #1",
      text(rsa.privateKey.export({ type: "pkcs1", format: "pem" })),
      "is PKCS #1, not PKCS #8: convert",
    ],
    ["SEC 1", text(ec.privateKey.export({ type: "sec1", format: "pem" })), "is SEC 1, not PKCS #8: convert"],
    ["encrypted", text(rsa.privateKey.export(locked)), "is encrypted: decrypt it"],
    ["public", text(rsa.publicKey.export({ type: "spki", format: "pem" })), "BEGIN PRIVATE KEY"],
    ["not PEM", text("a key, honestly"), "BEGIN PRIVATE KEY"],
    ["without alg", { pem: plain }, 'must name its algorithm, such as alg: "ES256"'],
    ["for HS256", { pem: plain, alg: "HS256" }, "must be for one of RS256"],
    ["a public JWK", ec.publicKey.export({ format: "jwk" }), "must be a private key"],
    ["a JWK for secp256k1", { kty: "EC", crv: "secp256k1", d: "x" }, "must be for one of RS256"],
    ["a secret", "secret", "must be a CryptoKey, a JWK, or { pem, alg }"],
  ];

  test.each(rows)("with a key that is %s are rejected when they are given", (_, privateKey, problem) => {
    const options = { clientId: "robot", privateKey: privateKey as ClientKey };
    expect(() => clientCredentials(options)).toThrow(problem);
  });

  test("with a key of Web Crypto that cannot sign are rejected when they are given", async () => {
    const { publicKey } = await generateKeyPair("ES256");
    const options = { clientId: "robot", privateKey: publicKey };
    expect(() => clientCredentials(options)).toThrow("must be a private key: this one is public");
    const agreeing = await importPKCS8(
      String(ec.privateKey.export({ type: "pkcs8", format: "pem" })),
      "ECDH-ES",
    );
    const other = { clientId: "robot", privateKey: agreeing };
    expect(() => clientCredentials(other)).toThrow('must have the usage "sign"');
  });
});
