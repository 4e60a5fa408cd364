// Assembles the parts of a server, and turns changes of the catalogue into notifications, one per burst.
import { Cluster } from "../backplane/cluster.ts";
import { logRejection } from "../diagnostics/rate-limited-log.ts";
import { Loads } from "../limits/loads.ts";
import { extensionIds } from "../protocol/meta.ts";
import type { Implementation } from "../protocol/model.ts";
import { listChanged } from "../protocol/notifications.ts";
import { Asks } from "../push/asks.ts";
import { ChangeLog } from "../push/changes.ts";
import { Hub } from "../push/hub.ts";
import { watchAsk } from "./asking/ask-events.ts";
import { Conversations } from "./asking/conversations.ts";
import { ElicitationIds } from "./asking/elicitation-ids.ts";
import type { Core } from "./calls/core.ts";
import { Middlewares } from "./calls/middleware.ts";
import { Catalogue, type ChangingList } from "./catalogue/catalogue.ts";
import { Features } from "./catalogue/features.ts";
import { topicScopes } from "./catalogue/scopes.ts";
import { watchSubscribers } from "./catalogue/subscriptions.ts";
import { protocolMethods } from "./methods/index.ts";
import { checkServerOptions, type ServerOptions } from "./options.ts";
import { Push } from "./push.ts";
import { RequestState } from "./request-state/request-state.ts";
import { refuseOption, resolveSettings, type Settings } from "./settings/settings.ts";
import { tasksOf } from "./tasks/begin.ts";
import { coreTaskMethods } from "./tasks/core-methods.ts";
import { tasksExtension } from "./tasks/extension.ts";
import { resolveTaskOptions } from "./tasks/options.ts";
import { TaskTable } from "./tasks/table.ts";

/** How many pages opened by users may wait for `elicitationComplete`. */
const maxElicitations = 10_000;

/** The parts of a server, for {@link McpServer}. */
interface Assembled {
  readonly core: Core;
  readonly push: Push;
  readonly loads: Loads;
  readonly requestState: RequestState;
  readonly cluster: Cluster | undefined;
  readonly changes: ChangeLog | undefined;
}

export function assemble(info: Implementation, options: ServerOptions): Assembled {
  checkServerOptions(options);
  const settings = resolveSettings(options);
  const { observe, logger, backplane } = settings;
  const cluster = backplane && new Cluster(backplane, { info, logger, observe });
  const hub = new Hub(settings.limits, (topic) => topicScopes(catalogue, topic), watchSubscribers(settings));
  const changes = cluster && new ChangeLog(cluster, hub, settings);
  if (changes) hub.share(changes);
  const asks = new Asks(observe && ((ask) => watchAsk(observe, ask)));
  const elicitationIds = new ElicitationIds(maxElicitations);
  const push = new Push({ hub, asks, elicitationIds, observe });

  const table = new TaskTable(resolveTaskOptions(options.tasks ?? {}, refuseOption), hub);
  const listChanges = collectChanges(settings, push);
  const offerTasks = (): void => {
    if (!table.offered) catalogue.extensions.add(extensionIds.tasks, tasksExtension(table));
    table.offered = true;
  };
  const catalogue: Catalogue = new Catalogue(settings, listChanges.note, offerTasks);
  const features = new Features(catalogue, settings, table);

  const requestState = new RequestState(info.name, logger);
  const conversations = new Conversations({ requestState, elicitationIds, settings });
  const tasks = tasksOf({ table, conversations, features, settings, hub, asks });
  const methods = new Map([
    ...protocolMethods({
      info,
      settings,
      catalogue,
      features,
      hub,
      tasks,
      onAnnounced: listChanges.announced,
    }),
    ...coreTaskMethods(table, settings.pageSize),
  ]);
  const core: Core = {
    info,
    settings,
    catalogue,
    features,
    middlewares: new Middlewares(),
    observers: {},
    hub,
    asks,
    methods,
    asking: conversations,
    serverMetas: new Map(),
    cluster,
  };
  const loads = new Loads(settings.limits.maxInFlightBytes);
  return { core, push, loads, requestState, cluster, changes };
}

/** Collects the changes of one turn and publishes each list once. */
interface Changes {
  note(list: ChangingList): void;
  /** From now on, legacy clients know the capabilities and do not learn of new ones. */
  announced(): void;
}

function collectChanges({ logger, capabilities }: Settings, push: Push): Changes {
  const pending = new Set<ChangingList>();
  const seen = new Set<ChangingList>();
  let isAnnounced = false;
  const publish = (): void => {
    const lists = [...pending];
    pending.clear();
    for (const list of lists) logRejection(logger, "Publishing a change", push.publish(listChanged[list]));
  };
  const warnIfLate = (list: ChangingList): void => {
    if (seen.has(list)) return;
    seen.add(list);
    if (!isAnnounced || capabilities[list]) return;
    const remedy = `pass { capabilities: { ${list}: true } } to the McpServer constructor`;
    logger.warn(`Connected clients do not know that the server has ${list}: ${remedy}`);
  };
  return {
    note(list) {
      warnIfLate(list);
      if (pending.size === 0) queueMicrotask(publish);
      pending.add(list);
    },
    announced() {
      isAnnounced = true;
    },
  };
}
