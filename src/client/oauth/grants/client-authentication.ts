// How a client proves who it is at a token endpoint.
import type { AuthorizationServer, Client, ClientAuth } from "oauth4webapi";
import { shown } from "../net/shown.ts";
import { OAuthError } from "../settings/errors.ts";
import { signingKeyOf } from "../settings/keys.ts";
import type { ClientKey, ClientProof } from "../settings/options.ts";
import { signJwt } from "./jwt.ts";

/** How long an assertion of who the client is can be used. */
const assertionSeconds = 60;

/** By which methods a client can prove who it is, the preferred one first. */
const methodsOf = {
  "a private key": ["private_key_jwt"],
  "a secret": ["client_secret_basic", "client_secret_post"],
  // Some issue one to every client, and want to see it from none.
  "the secret of its registration": ["client_secret_basic", "client_secret_post", "none"],
  "no secret": ["none"],
} as const;

type Method = (typeof methodsOf)[keyof typeof methodsOf][number];

/** Names for the same algorithm. */
const otherNames: { readonly [alg: string]: string } = { EdDSA: "Ed25519", Ed25519: "EdDSA" };

/**
 * Chooses the method that the client is registered with, else one that the authorization server supports. A client without a secret or key
 * sends its id only: many servers accept that without saying so.
 */
export async function authenticationOf(
  as: AuthorizationServer,
  client: Client,
  { clientSecret, privateKey }: ClientProof,
): Promise<ClientAuth> {
  const { token_endpoint_auth_method: registered, client_secret: issued } = client;
  const has = privateKey
    ? "a private key"
    : clientSecret
      ? "a secret"
      : typeof issued === "string"
        ? "the secret of its registration"
        : "no secret";
  const supported: readonly string[] = registered
    ? [String(registered)]
    : has === "no secret"
      ? ["none"]
      : (as.token_endpoint_auth_methods_supported ?? methodsOf["a secret"]);
  const methods: readonly Method[] = methodsOf[has];
  const method = methods.find((one) => supported.includes(one));
  const secret = clientSecret ?? String(issued);
  switch (method) {
    case "private_key_jwt":
      return byKey(as, privateKey as ClientKey);
    case "client_secret_basic":
      return basic(secret);
    case "client_secret_post":
      return sending({ client_secret: secret });
    case "none":
      return sending({});
    default:
      throw new OAuthError(
        "registration",
        `The client ${shown(client.client_id)} has ${has} (for ${methods.join(", ")}), but ${shown(as.issuer)} expects ${shown(supported.join(", "))}: pass what it expects, or change that there`,
      );
  }
}

/**
 * Encodes as forms are, like RFC 6749 says, so that ids of letters, digits, "-", "_" and "." stay what they are: servers that forget to
 * decode still know them.
 */
function basic(secret: string): ClientAuth {
  return (_as, { client_id: id }, _body, headers) => {
    headers.set("authorization", `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}`);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

/** Sends the id of the client, if it has one, and more. */
function sending(more: Readonly<Record<string, string>>): ClientAuth {
  return (_as, { client_id }, body) => {
    const parameters = { ...(client_id !== "" && { client_id }), ...more };
    for (const [name, value] of Object.entries(parameters)) body.set(name, value);
  };
}

async function byKey(as: AuthorizationServer, privateKey: ClientKey): Promise<ClientAuth> {
  const fail = (problem: string): OAuthError => new OAuthError("token", `The privateKey ${problem}`);
  const key = await signingKeyOf(privateKey).catch((cause: unknown) => {
    const { alg } = privateKey as { readonly alg?: string };
    throw fail(
      `is damaged, or its algorithm is not ${alg ?? "the one that its parameters say"}: ${String(cause)}`,
    );
  });
  const supported = as.token_endpoint_auth_signing_alg_values_supported;
  const alg = [key.alg, otherNames[key.alg]].find((one) => supported?.includes(one as string) ?? true);
  if (alg === undefined)
    throw fail(
      `signs with ${key.alg}, but ${shown(as.issuer)} accepts ${shown(supported?.join(", "))}: use a key for one of these`,
    );
  return async (...request) => {
    const [{ issuer }, { client_id: id }] = request;
    const exp = Math.floor(Date.now() / 1000) + assertionSeconds;
    const claims = { iss: id, sub: id, aud: issuer, exp };
    sending({
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await signJwt({ ...key, alg }, { kid: key.kid }, claims),
    })(...request);
  };
}
