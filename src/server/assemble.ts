// Assembles the parts of a server.
import type { Cluster } from "../cluster/node/cluster.ts";
import { LoneCluster } from "../cluster/node/lone-cluster.ts";
import { clip } from "../base/errors.ts";
import { Loads } from "../base/limits/loads.ts";
import { extensionIds } from "../protocol/meta.ts";
import type { Implementation } from "../protocol/model.ts";
import { Asks } from "./push/asks.ts";
import { ChangeLog } from "./push/changes.ts";
import { Hub } from "./push/hub.ts";
import { RemoteSessions } from "./push/remote-sessions.ts";
import { partsOf } from "./push/topic.ts";
import { watchAsk } from "./asking/ask-events.ts";
import { Conversations } from "./asking/conversations.ts";
import { ElicitationIds } from "./asking/elicitation.ts";
import type { Core } from "./calls/core.ts";
import { Middlewares } from "./calls/middleware.ts";
import { Catalogue, type ChangingList } from "./catalogue/catalogue.ts";
import { Features } from "./catalogue/features.ts";
import { topicScopes } from "./catalogue/scopes.ts";
import { watchSubscribers } from "./catalogue/subscriptions.ts";
import { LateCapabilities } from "./late-capabilities.ts";
import { ListChanges } from "./list-changes.ts";
import { protocolMethods } from "./methods/index.ts";
import { readServerOptions, type ServerOptions } from "./options.ts";
import { Push } from "./push.ts";
import { RequestState } from "./request-state/request-state.ts";
import type { Settings } from "./settings/settings.ts";
import { tasksOf } from "./tasks/begin.ts";
import { coreTaskMethods, tasksExtension } from "./tasks/methods.ts";
import { TaskTable } from "./tasks/table.ts";

const eras = ["modern", "legacy"] as const;
/** How many pages opened by users may wait for `elicitationComplete`. */
const maxElicitations = 10_000;

/** The parts of a server, for {@link McpServer}. */
interface Assembled {
  readonly core: Core;
  readonly push: Push;
  readonly loads: Loads;
  readonly requestState: RequestState;
  readonly cluster: Cluster;
  readonly changes: ChangeLog;
  readonly remote: RemoteSessions;
}

export function assemble(info: Implementation, options: ServerOptions): Assembled {
  const { settings, tasks: taskSettings } = readServerOptions(options);
  const { logger, backplane } = settings;
  const cluster = backplane?.cluster({ info, diagnostics: settings }) ?? new LoneCluster(logger);
  const hub = new Hub(
    settings.limits,
    (topic) => topicScopes(offer.catalogue, topic),
    watchSubscribers(settings),
    (topic) => settings.observe?.({ type: "merge", ...partsOf(topic) }),
  );
  const changes = new ChangeLog(cluster, hub, settings);
  const remote = new RemoteSessions(cluster, hub, logger);
  hub.connect(changes, remote);
  const asks = new Asks((ask) => watchAsk(settings, ask), cluster);
  const elicitationIds = new ElicitationIds(maxElicitations);
  const isExtension = (name: string): boolean => offer.catalogue.extensions.publishes(name);
  const push = new Push({ hub, asks, elicitationIds, diagnostics: settings, cluster, isExtension });

  const table = new TaskTable(taskSettings, { hub, asks, logger, cluster });
  const listChanges = new ListChanges({
    settings,
    hub,
    catalogue: () => offer.catalogue,
    cluster,
    changes,
  });
  const offer: Offer = offerOf(settings, table, (list) => listChanges.note(list));
  const { catalogue, features } = offer;
  const requestState = new RequestState(info.name, logger, cluster);
  const conversations = new Conversations({ requestState, elicitationIds, settings });
  const tasks = tasksOf({ table, conversations, features, settings, hub, asks });
  const onAnnounced = (): void => offer.lateCapabilities.announced();
  const methods = new Map([
    ...protocolMethods({ info, settings, catalogue, features, hub, tasks, onAnnounced }),
    ...coreTaskMethods(table, settings.pageSize),
  ]);
  const core: Core = {
    info,
    settings,
    catalogue,
    features,
    middlewares: new Middlewares(
      (method) => methods.has(method) || eras.some((era) => catalogue.findMethod(method, era) !== undefined),
      (method) =>
        logger.warn(`server.use: the server has no method "${clip(method)}": its middleware never runs`),
    ),
    observers: {},
    window: {},
    tasks: table,
    hub,
    asks,
    methods,
    asking: conversations,
    serverMetas: new Map(),
    cluster,
  };
  const loads = new Loads(settings.limits.maxInFlightBytes);
  return { core, push, loads, requestState, cluster, changes, remote };
}

/** What a server offers to its clients. */
interface Offer {
  readonly catalogue: Catalogue;
  readonly features: Features;
  readonly lateCapabilities: LateCapabilities;
}

function offerOf(settings: Settings, table: TaskTable, onListChange: (list: ChangingList) => void): Offer {
  const offerTasks = (): void => {
    if (!table.offered) catalogue.extensions.add(extensionIds.tasks, tasksExtension(table));
    table.offered = true;
  };
  const onAdded = (): void => lateCapabilities.note();
  const catalogue: Catalogue = new Catalogue(settings, { onListChange, onTask: offerTasks, onAdded });
  const features = new Features(catalogue, settings, table);
  const { extensions } = catalogue;
  const lateCapabilities = new LateCapabilities({ features, extensions, logger: settings.logger });
  return { catalogue, features, lateCapabilities };
}
