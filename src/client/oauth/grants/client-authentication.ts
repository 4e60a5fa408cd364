// How a client proves who it is at a token endpoint.
import {
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  modifyAssertion,
  None,
  PrivateKeyJwt,
} from "oauth4webapi";
import { OAuthError } from "../settings/errors.ts";
import { keyProblem, signingKeyOf } from "../settings/keys.ts";
import type { ClientKey, ClientProof } from "../settings/options.ts";

/** The methods that a proof can be sent by, the preferred one first. */
const methodsOf: { readonly [Kind in "secret" | "key"]: readonly string[] } = {
  secret: ["client_secret_basic", "client_secret_post"],
  key: ["private_key_jwt"],
};

/** Names for the same algorithm. */
const otherNames: { readonly [alg: string]: string } = { EdDSA: "Ed25519", Ed25519: "EdDSA" };

/**
 * Chooses the method that the client is registered with, else one that the authorization server supports. The secret of a client that has
 * registered itself is in `client`. A client without a proof sends its id only: many servers accept that without saying so.
 */
export async function authenticationOf(
  as: AuthorizationServer,
  client: Client,
  proof: ClientProof,
): Promise<ClientAuth> {
  const { token_endpoint_auth_method: registered, client_secret: given } = client;
  const secret = proof.clientSecret ?? (typeof given === "string" ? given : undefined);
  const kind = proof.privateKey ? "key" : secret === undefined ? undefined : "secret";
  if (registered === "none" || (kind ?? registered) === undefined)
    return client.client_id === "" ? () => {} : None();
  const supported =
    registered === undefined ? (as.token_endpoint_auth_methods_supported ?? methodsOf.secret) : [registered];
  const method = kind && methodsOf[kind].find((one) => supported.includes(one));
  if (method === undefined) {
    throw new OAuthError(
      "registration",
      `The client ${client.client_id} proves who it is with ${kind ? `a ${kind} (${methodsOf[kind].join(", ")})` : "nothing"}, but ${as.issuer} expects ${supported.join(", ")}: pass what it expects, or change that there`,
    );
  }
  if (proof.privateKey) return byKey(as, proof.privateKey);
  return method === "client_secret_post" ? ClientSecretPost(secret as string) : basic(secret as string);
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

async function byKey(as: AuthorizationServer, privateKey: ClientKey): Promise<ClientAuth> {
  const fail = (problem: string): OAuthError => new OAuthError("token", `The privateKey ${problem}`);
  const unusable = keyProblem(privateKey);
  if (unusable !== undefined) throw fail(unusable);
  const {
    key,
    kid,
    alg: own,
  } = await signingKeyOf(privateKey).catch((cause: unknown) => {
    const { alg } = privateKey as { readonly alg?: string };
    throw fail(
      `is damaged, or its algorithm is not ${alg ?? "the one that its parameters say"}: ${String(cause)}`,
    );
  });
  const supported = as.token_endpoint_auth_signing_alg_values_supported;
  const alg = [own, otherNames[own]].find((one) => supported?.includes(one as string) ?? true);
  if (alg === undefined)
    throw fail(
      `signs with ${own}, but ${as.issuer} accepts ${supported?.join(", ")}: use a key for one of these`,
    );
  return PrivateKeyJwt(
    { key, ...(kid !== undefined && { kid }) },
    {
      [modifyAssertion]: (header) => {
        header["alg"] = alg;
      },
    },
  );
}
