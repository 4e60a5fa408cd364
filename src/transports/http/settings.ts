// The settings of an endpoint: its options, completed and checked with each other.
import type { ServerPort } from "../../server/calls/port.ts";
import { type Auth, toAuth } from "../../auth/authenticate.ts";
import { ConfigurationError } from "../../base/errors.ts";
import { type Filled, withDefaults } from "../../base/options.ts";
import type { CorsOptions } from "./cors.ts";
import {
  type Completed,
  type EndpointDashboard,
  type HttpOptions,
  knownHttpOptions,
  knownLegacySse,
  type LegacySseOptions,
} from "./options.ts";
import { type RateLimitSettings, resolveRateLimits } from "./rate-limit-options.ts";

/** The options, completed with their defaults. */
export interface HttpSettings extends Completed {
  readonly allowedOrigins: readonly string[];
  readonly cors: CorsOptions | undefined;
  readonly legacySse: Filled<LegacySseOptions> | undefined;
  readonly rateLimits: RateLimitSettings | undefined;
  readonly auth: Auth | undefined;
  readonly trustedProxies: number;
  /** The path of health checks, if there is one. */
  readonly health: string | undefined;
  readonly dashboard?: EndpointDashboard | undefined;
}

export const defaultLegacySse: Filled<LegacySseOptions> = withDefaults({}, knownLegacySse);
const defaultHealthPath = "/health";

/** Completes the options, whose kinds have been checked, with their defaults. Throws for one that cannot work with others. */
export function resolveHttpOptions(options: HttpOptions): HttpSettings {
  const { cors, legacySse, auth, health } = options;
  const trustedProxies = Number(options.trustProxy ?? 0);
  const settings = {
    ...withDefaults(options, knownHttpOptions),
    allowedOrigins: [...(options.allowedOrigins ?? []), ...(cors?.origins ?? [])],
    cors,
    legacySse: legacySse ? withDefaults(legacySse === true ? {} : legacySse, knownLegacySse) : undefined,
    rateLimits: resolveRateLimits(options.rateLimit, {
      principals: auth !== undefined,
      addresses: trustedProxies > 0,
    }),
    auth: auth === undefined ? undefined : toAuth(auth),
    trustedProxies,
    health: health === true ? defaultHealthPath : health || undefined,
  };
  checkPaths(settings);
  return settings;
}

/** Throws if two things are to be served at the same path, of which a client could reach only one. */
function checkPaths({ path, legacySse, health, auth }: HttpSettings): void {
  const taken = new Map<string, string>();
  for (const document of auth?.documents?.keys() ?? []) taken.set(document, "a metadata document of auth");
  const named = {
    path,
    "legacySse.ssePath": legacySse?.ssePath,
    "legacySse.messagePath": legacySse?.messagePath,
    health,
  };
  for (const [field, value] of Object.entries(named)) {
    if (value === undefined) continue;
    const other = taken.get(value);
    if (other !== undefined) fail(field, `is ${value}, where ${other} is served: choose another path`);
    taken.set(value, field);
  }
}

/** Throws if definitions require scopes and there is no `auth`; warns if the path of `resource` is not that of the endpoint. */
export function checkProtection({ auth, path, trustedProxies }: HttpSettings, server: ServerPort): void {
  if (server.usesScopes && auth === undefined)
    fail(
      "auth",
      "is missing: definitions of this server require scopes, so pass bearerAuth({ … }) of halyard/auth",
    );
  const { resource } = auth ?? {};
  if (resource === undefined || trustedProxies > 0 || new URL(resource).pathname === path) return;
  const remedy = "set trustProxy if a proxy in between changes the path, or correct resource or path";
  server.logger.warn(`The resource is ${resource}, but the endpoint is at ${path}: ${remedy}`);
}

function fail(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "HTTP", field }, problem);
}
