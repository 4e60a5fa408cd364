// The official conformance suite against the client of the fixture: each scenario that does not concern authorization.
import { expect, test } from "vitest";
import { problems } from "./legs.ts";
import { runScenario } from "./suite.ts";

const command = `${process.execPath} --import tsx examples/everything/client.ts`;

const scenarios: Readonly<Record<string, string>> = {
  "2025-06-18": "initialize tools_call",
  "2025-11-25":
    "initialize tools_call elicitation-sep1034-client-defaults sse-retry json-schema-2020-12-preservation",
  "2026-07-28":
    "tools_call request-metadata sep-2322-client-request-state http-standard-headers http-custom-headers " +
    "http-invalid-tool-headers json-schema-ref-no-deref json-schema-2020-12-preservation",
};

const rows = Object.entries(scenarios).flatMap(([revision, names]) =>
  names.split(" ").map((scenario) => ({ revision, scenario })),
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
