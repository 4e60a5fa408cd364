// How a client proves who it is at a token endpoint.
import * as oauth from "oauth4webapi";
import { OAuthError, shown } from "../settings/errors.ts";
import { type ClientKey, signingKeyOf } from "../settings/keys.ts";
import type { ClientProof } from "../settings/options.ts";

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
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  { clientSecret, privateKey }: ClientProof,
): Promise<oauth.ClientAuth> {
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
      return oauth.ClientSecretPost(secret);
    case "none":
      // The token of a workload may say all that there is to say.
      return client.client_id === "" ? () => {} : oauth.None();
    default:
      throw new OAuthError(
        "registration",
        `The client ${shown(client.client_id)} has ${has} (for ${methods.join(", ")}), but ${shown(as.issuer)} expects ${shown(supported.join(", "))}: pass what it expects, or change that there`,
      );
  }
}

/** oauth4webapi also encodes "-", "_" and ".", which servers that forget to decode do not recognise in the id of a client. */
function basic(secret: string): oauth.ClientAuth {
  return (_as, { client_id: id }, _body, headers) => {
    headers.set("authorization", `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}`);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

async function byKey(as: oauth.AuthorizationServer, privateKey: ClientKey): Promise<oauth.ClientAuth> {
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
  return oauth.PrivateKeyJwt(key, {
    [oauth.modifyAssertion](header, claims) {
      // Most servers know Ed25519 only by its older name.
      header["alg"] = alg;
      // A clock that is a second ahead must do no harm.
      delete claims["nbf"];
    },
  });
}
