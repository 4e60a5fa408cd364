// Behind a proxy that breaks whatever passes, each call has one outcome that is true, and no change is lost without "read again".
// `npm run test:all` breaks 2,000 exchanges and says what happened. HALYARD_CHAOS_SEED breaks others.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { McpClient } from "halyard/client";
import { describe, expect, test } from "vitest";
import { newestLegacy, newestModern } from "../../support/revisions.ts";
import { isEverything } from "../../support/tier.ts";
import { until } from "../../support/turns.ts";
import { chaos, maxRunMs } from "./run.ts";

const seed = Number(process.env["HALYARD_CHAOS_SEED"] ?? 1);

const modern = { revision: newestModern, dropsIds: false };
const legacy = { revision: newestLegacy, dropsIds: false };
const rows = [
  { name: "modern", ...modern, cuts: isEverything ? 800 : 20 },
  { name: "legacy, streams that resume", ...legacy, cuts: isEverything ? 500 : 20 },
  { name: "legacy, streams that do not resume", ...legacy, dropsIds: true, cuts: isEverything ? 500 : 20 },
  { name: "modern, over TLS", ...modern, hasTls: true, cuts: isEverything ? 300 : 20 },
  // Connections of the global fetch stay open for a while.
  ...(isEverything ? [{ name: "modern, by fetch", ...modern, fetch: globalThis.fetch, cuts: 200 }] : []),
];

const clients: WeakRef<McpClient>[] = [];

describe.concurrent("a client behind a proxy that breaks things", () => {
  test.each(rows)("keeps its promises · $name", { timeout: maxRunMs }, async ({ name, ...row }) => {
    const { client, ...report } = await chaos({ seed, ...row });
    clients.push(client);
    if (isEverything) console.info(name, JSON.stringify(report, undefined, 2));
    expect(report.violations, `HALYARD_CHAOS_SEED=${seed}`).toEqual([]);
  });
});

test("and nothing is left of it: no client, no connection", { timeout: 60_000 }, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  expect(clients).toHaveLength(rows.length);
  await until(() => {
    collect();
    return clients.every((client) => client.deref() === undefined);
  }, 30_000);
  const connections = (): string[] =>
    process.getActiveResourcesInfo().filter((resource) => resource.startsWith("TCP"));
  await until(() => connections().length === 0, 30_000);
});
