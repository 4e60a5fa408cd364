/**
 * An OAuth resource server: verifies bearer tokens, and tells clients where to get them.
 *
 * @module
 */
export { bearerAuth } from "./bearer.ts";
export {
  type DevelopmentIssuer,
  developmentIssuer,
  type DevelopmentIssuerOptions,
  type DevelopmentTokenOptions,
} from "./development.ts";
export type { TokenClaims } from "./claims.ts";
export type {
  Auth,
  Authenticate,
  Authenticated,
  AuthRefusal,
  EndpointPlace,
  RequestHead,
} from "./authenticate.ts";
export type { IntrospectionOptions } from "./introspection.ts";
export type { BearerAuthOptions } from "./options.ts";
