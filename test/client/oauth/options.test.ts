// The options of the ways to obtain tokens: what cannot work is refused at once, with the option and the remedy.
import { connect } from "halyard/client";
import {
  clientCredentials,
  enterpriseManaged,
  fileStore,
  oauth,
  workloadIdentity,
} from "halyard/client/oauth";
import { describe, expect, test } from "vitest";

const { privateKey, publicKey } = await crypto.subtle.generateKey(
  { name: "ECDSA", namedCurve: "P-256" },
  true,
  ["sign", "verify"],
);
const issuer = "https://auth.example.com";
const identityProvider = { issuer: "https://login.example.com", clientId: "app", idToken: "a JWT" };

type Row = readonly [options: object, problem: string];

const ofAPerson: readonly Row[] = [
  [{ scopes: "read" }, "scopes must be a list of texts"],
  [{ scopes: new Set(["read"]) }, "scopes must be a list of texts"],
  [{ store: "tokens.json" }, "store must be a TokenStore, such as fileStore(path)"],
  [{ store: fileStore }, "store must be a TokenStore, such as fileStore(path)"],
  [{ store: null }, "store must be a TokenStore, such as fileStore(path)"],
  [{ dpop: "yes" }, "dpop must be true or false"],
  [{ issuer: new URL(issuer) }, 'issuer must be the text of a URL, or "announced"'],
  [{ issuer: "auth.example.com" }, "issuer must be the text of a URL"],
  [{ issuer: "localhost:3000" }, "issuer must be the text of a URL"],
  [{ resource: "notes" }, "resource must be the text of a URL"],
  [{ fetch: "undici" }, "fetch must be a function"],
  [{ clientId: "" }, "clientId must be a text that is not empty"],
  [{ clientName: 5 }, "clientName must be a text"],
  [{ clientMetadataUrl: "http://app.example.com/client.json" }, "must be an https URL with a path"],
  [{ clientMetadataUrl: "https://app.example.com" }, "must be an https URL with a path"],
  [{ signInTimeoutMs: 0 }, "signInTimeoutMs must be a whole number of milliseconds"],
  [{ signInTimeoutMs: "5m" }, "signInTimeoutMs must be a whole number"],
  [{ open: true }, 'open must be "browser", "popup" or "redirect", or a function, not true'],
  [{ open: "popup" }, 'open cannot be "popup" here: pass "browser", a function'],
  [{ redirectUri: new URL("http://127.0.0.1/callback") }, "redirectUri must be the text of a URL"],
  [{ redirectUri: "https://app.example.com/callback" }, "pass an address of this machine"],
  [{ clientSecret: "secret", issuer }, "clientId is required with clientSecret"],
  [{ clientId: "app", clientSecret: "secret" }, "issuer is required with clientSecret"],
  [{ clientId: "app", clientSecret: "secret", privateKey, issuer }, "cannot be used together with"],
  [{ privateKey }, "clientId is required with privateKey, or clientMetadataUrl"],
  [{ clientId: "app", privateKey: null }, "privateKey must be a CryptoKey, a JWK, or { pem, alg }"],
  [{ clientId: "app", privateKey: { privateKey, publicKey } }, "privateKey must be a CryptoKey"],
  [{ clientId: "app", privateKey: publicKey }, "must be a private key: this one is public"],
];

test.each(ofAPerson)("oauth refuses %o", (options, problem) => {
  expect(() => oauth(options)).toThrow(problem);
});

test.each<Row>([
  [{}, "clientId is required"],
  [{ clientId: "service" }, "clientSecret is required, or privateKey"],
  [{ clientId: "service", clientSecret: "", issuer }, "clientSecret must be a text that is not empty"],
  [{ clientId: "service", clientSecret: "secret" }, '"announced" trusts the one that the server announces'],
])("clientCredentials refuses %o", (options, problem) => {
  expect(() => clientCredentials(options as never)).toThrow(problem);
});

test.each<Row>([
  [{ identityProvider }, "clientId is required"],
  [{ clientId: "app" }, "identityProvider is required"],
  [{ clientId: "app", identityProvider: null }, "identityProvider must be an object, not null"],
  [{ clientId: "app", identityProvider: issuer }, "identityProvider must be an object"],
  [{ clientId: "app", identityProvider: { issuer } }, "identityProvider.clientId is required"],
  [
    { clientId: "app", identityProvider: { ...identityProvider, privateKey: publicKey } },
    "this one is public",
  ],
])("enterpriseManaged refuses %o", (options, problem) => {
  expect(() => enterpriseManaged(options as never)).toThrow(problem);
});

test.each<Row>([
  [{ issuer }, "assertion is required"],
  [{ assertion: "a JWT" }, "issuer is required with assertion"],
  [
    { issuer, assertion: Promise.resolve("a JWT") },
    "must be a JWT, or a function that returns one, not a promise: await it",
  ],
])("workloadIdentity refuses %o", (options, problem) => {
  expect(() => workloadIdentity(options as never)).toThrow(problem);
});

describe("the messages", () => {
  test("never contain a secret", () => {
    const given = { clientId: 5, clientSecret: "s3cret", issuer };
    expect(() => clientCredentials(given as never)).toThrow(/^(?!.*s3cret).*clientId must be/);
  });

  test.each([
    ["oauth itself", oauth],
    ["a function without a token", () => undefined],
    ["a function without a token later", async () => undefined],
  ])("of connect say what is wrong with %s as auth", async (_, auth) => {
    const fetch = async (): Promise<Response> => new Response("", { status: 500 });
    const connecting = connect("https://mcp.example.com/mcp", { auth: auth as never, fetch });
    await expect(connecting).rejects.toThrow(
      'connect: auth returned no token: return a text without "Bearer", or write auth: oauth()',
    );
  });
});
