// Everything that only the nodes of a cluster need, for each layer that uses it.
import type { PartKind, Parts } from "../backplane/parts.ts";
import { SseForwarding } from "../transports/http/legacy-sse-forward.ts";
import { forwardedSse } from "../transports/http/legacy-sse.ts";
import { fingerprintOf, registriesOf } from "../server/catalogue/fingerprint.ts";
import { comparedCatalogues } from "../server/list-changes.ts";
import { compareCatalogues } from "../server/node-catalogues.ts";
import { agreeOnKeys } from "../server/request-state/key-agreement.ts";
import { agreedKeys } from "../server/request-state/request-state.ts";
import { TasksElsewhere } from "../server/tasks/elsewhere.ts";
import { RemotePlaces } from "../server/tasks/remote-places.ts";
import { sharedTasks } from "../server/tasks/table.ts";
import { SessionCounts } from "../server/session/counts.ts";
import { sessionCounts } from "../server/session/sessions.ts";

export const parts: Parts = new Map<PartKind<unknown>, unknown>([
  entry(comparedCatalogues, { fingerprintOf, registriesOf, compareCatalogues }),
  entry(agreedKeys, agreeOnKeys),
  entry(sharedTasks, { RemotePlaces, TasksElsewhere }),
  entry(sessionCounts, SessionCounts),
  entry(forwardedSse, SseForwarding),
]);

/** The compiler checks that the part is what its kind promises. */
function entry<Part>(kind: PartKind<Part>, part: Part): [PartKind<unknown>, unknown] {
  return [kind, part];
}
