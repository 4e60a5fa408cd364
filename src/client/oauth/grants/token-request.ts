// Asks the token endpoint, for every grant.
import {
  allowInsecureRequests,
  customFetch,
  isDPoPNonceError,
  processGenericTokenEndpointResponse,
  type TokenEndpointRequestOptions,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { OAuthError } from "../settings/errors.ts";
import type { Party } from "./grant.ts";

/** Sends a token request, once more if the server wants a nonce of its own, and returns the tokens. */
export async function requestTokens(
  { as, client, net, dpop }: Party,
  send: (options: TokenEndpointRequestOptions) => Promise<Response>,
): Promise<TokenEndpointResponse> {
  const once = async (): Promise<TokenEndpointResponse> => {
    const response = await send({
      [customFetch]: net.fetch as never,
      [allowInsecureRequests]: true,
      ...(dpop && { DPoP: dpop }),
    });
    return processGenericTokenEndpointResponse(as, client, response);
  };
  try {
    return await once().catch((error: unknown) => {
      if (dpop && isDPoPNonceError(error)) return once();
      throw error;
    });
  } catch (cause) {
    if (cause instanceof OAuthError) throw cause;
    throw new OAuthError("token", `${as.issuer} gave no token: ${(cause as Error).message}`, { cause });
  }
}
