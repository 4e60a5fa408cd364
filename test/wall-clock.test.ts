// Durations are measured with `performance.now()`, since the clock on the wall can be set. This table has the files that may read it.
import { readdirSync, readFileSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../src/", import.meta.url));

/** What each file needs the time of day for. */
const readers: Readonly<Record<string, string>> = {
  "base/async/timers.ts": "what must not be kept too long is as old as either clock says",
  "auth/claims.ts": "the dates of a token",
  "auth/development.ts": "the dates of a token",
  "auth/introspection.ts": "the dates of a token",
  "cluster/node/joined-cluster.ts": "tells other nodes the time of this machine",
  "cluster/node/lone-cluster.ts": "the time of the only node",
  "cluster/node/presence.ts": "how far the clocks of other nodes differ",
  "client/connection/connection.ts": "`remember()` outlives the process",
  "client/connection/verdicts.ts": "`remember()` outlives the process",
  "client/http/failure.ts": "Retry-After may be a date",
  "client/oauth/token-holder.ts": "when a token expires",
  "client/oauth/token-source.ts": "when a token expires, for the store",
  "client/oauth/grants/proofs.ts": "the date of a proof",
  "client/oauth/grants/token-request.ts": "how far the clock of the issuer differs",
  "client/oauth/platform/node-file-lock.ts": "the dates of files",
  "client/oauth/platform/node-file-store.ts": "the name of a file",
  "client/oauth/registration.ts": "when a registration expires",
  "client/recording.ts": "the time of a recorded message",
  "client/tasks/handle.ts": "`toJSON()` outlives the process",
  "client/tasks/tasks.ts": "a stored task",
  "dashboard/following/followed-clients.ts": "shown",
  "dashboard/following/history.ts": "shown",
  "dashboard/page/timeline/entries.ts": "shown",
  "dashboard/page/timeline/window.ts": "shown",
  "dashboard/page/try/catalogue.ts": "shown",
  "dashboard/page/try/changes.ts": "shown",
  "dashboard/page/views/call-columns.tsx": "shown",
  "dashboard/page/views/call.tsx": "shown",
  "dashboard/sampling/samples.ts": "shown",
  "dashboard/views/timeline.ts": "shown",
  "protocol/principal.ts": "when a token expires",
  "protocol/schema/unrepresentable.ts": "whether a schema takes the date of today",
  "server/request-state/request-state.ts": "sealed state outlives the process",
  "server/request-state/keys.ts": "keys that nodes share outlive the process",
  "server/request-state/single-use.ts": "sealed state outlives the process",
  "server/tasks/begin.ts": "the protocol has dates",
  "server/tasks/table.ts": "the protocol has dates",
  "server/tasks/task-run.ts": "the protocol has dates",
  "server/session/tallies.ts": "nodes count in the same periods",
  "window/follow/followed-connection.ts": "shown",
  "window/follow/follows.ts": "shown",
  "window/inside/recent-calls.ts": "shown",
  "window/snapshot/snapshots.ts": "how far the clocks of other nodes differ",
};

test("only what has to do with dates reads the clock on the wall", () => {
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" });
  const reading = paths.filter((path) => {
    if (!/\.tsx?$/.test(path)) return false;
    const code = readFileSync(`${root}${path}`, "utf8").replaceAll(/^\s*(?:\*|\/\/).*$/gm, "");
    return /\bDate\.now\b|\bnew Date\(\)/.test(code);
  });
  expect(reading.map((path) => path.replaceAll(sep, "/")).toSorted()).toEqual(
    Object.keys(readers).toSorted(),
  );
});
