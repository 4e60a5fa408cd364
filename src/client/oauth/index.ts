// The entry `halyard/client/oauth`: tokens for a client, obtained by a person or by a machine.

export { fileStore } from "./file-store.ts";
export { clientCredentials, enterpriseManaged, oauth, workloadIdentity } from "./oauth.ts";
export type { OAuth } from "./oauth.ts";
export { finishSignIn } from "./platform/web-sign-in.ts";
export { OAuthError } from "./settings/errors.ts";
export type { OAuthProblem } from "./settings/errors.ts";
export type {
  ClientCredentialsOptions,
  ClientProof,
  EnterpriseManagedOptions,
  IdentityProvider,
  OAuthOptions,
  OpenOption,
  SharedOAuthOptions,
  TextSource,
  WorkloadIdentityOptions,
} from "./settings/options.ts";
export type { ClientKey } from "./settings/keys.ts";
export type { TokenStore } from "./settings/token-store.ts";
export { memoryStore } from "./settings/token-store.ts";
