// The official conformance suite against the client of the fixture: every scenario that it has for clients.
import { expect, test } from "vitest";
import { problems } from "./legs.ts";
import { runScenario } from "./suite.ts";

const command = `${process.execPath} --import tsx examples/everything/client.ts`;

/** The scenarios of authorization that the two newest revisions share. */
const authorization =
  "auth/metadata-default auth/metadata-var1 auth/metadata-var2 auth/metadata-var3 auth/basic-cimd " +
  "auth/scope-from-www-authenticate auth/scope-from-scopes-supported auth/scope-omitted-when-undefined " +
  "auth/scope-step-up auth/scope-retry-limit auth/pre-registration";

const authentication =
  "auth/token-endpoint-auth-basic auth/token-endpoint-auth-post auth/token-endpoint-auth-none";

/** Extensions belong to no revision: the suite plays them at one that is forced on it. */
const extensions =
  "auth/client-credentials-jwt auth/client-credentials-basic auth/enterprise-managed-authorization " +
  "auth/dpop auth/dpop-nonce auth/wif-jwt-bearer";

const scenarios: Readonly<Record<string, readonly string[]>> = {
  "2025-03-26": ["auth/2025-03-26-oauth-metadata-backcompat auth/2025-03-26-oauth-endpoint-fallback"],
  "2025-06-18": ["initialize tools_call", authentication],
  "2025-11-25": [
    "initialize tools_call elicitation-sep1034-client-defaults sse-retry json-schema-2020-12-preservation",
    authentication,
    authorization,
    extensions,
  ],
  "2026-07-28": [
    "tools_call request-metadata sep-2322-client-request-state http-standard-headers http-custom-headers",
    "http-invalid-tool-headers json-schema-ref-no-deref json-schema-2020-12-preservation",
    authentication,
    authorization,
    "auth/resource-mismatch auth/offline-access-scope auth/offline-access-not-supported",
    "auth/authorization-server-migration auth/iss-supported auth/iss-not-advertised auth/iss-supported-missing",
    "auth/iss-wrong-issuer auth/iss-unexpected auth/iss-normalized auth/metadata-issuer-mismatch",
    extensions,
  ],
};

const rows = Object.entries(scenarios).flatMap(([revision, groups]) =>
  groups.flatMap((names) => names.split(" ")).map((scenario) => ({ revision, scenario })),
);

test.each(rows)(
  "the official suite finds nothing wrong with the client: $scenario on $revision",
  async ({ revision, scenario }) => {
    const { exitCode, checks } = await runScenario(command, scenario, revision);
    expect(problems(scenario, checks)).toEqual([]);
    expect(exitCode).toBe(0);
  },
  90_000,
);
