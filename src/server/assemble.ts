// Puts the parts of a server together, and turns changes of the catalogue into notifications, once per burst.
import { logRejection } from "../diagnostics/rate-limited-log.ts";
import { Loads } from "../limits/loads.ts";
import { extensionIds } from "../protocol/meta.ts";
import type { Implementation } from "../protocol/model.ts";
import { listChanged } from "../protocol/notifications.ts";
import { Asks } from "../push/asks.ts";
import { Hub } from "../push/hub.ts";
import { watchAsk } from "./asking/ask-events.ts";
import { Conversations } from "./asking/conversations.ts";
import { ElicitationIds } from "./asking/elicitation-ids.ts";
import type { Core } from "./calls/core.ts";
import { Middlewares } from "./calls/middleware.ts";
import { noObservers } from "./calls/notifications.ts";
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

/** Pages that users were sent to, whose clients wait to hear that they are done. */
const maxElicitations = 10_000;

/** A server in parts, as {@link McpServer} holds it. */
interface Assembled {
  readonly core: Core;
  readonly push: Push;
  readonly loads: Loads;
  readonly requestState: RequestState;
}

export function assemble(info: Implementation, options: ServerOptions): Assembled {
  checkServerOptions(options);
  const settings = resolveSettings(options);
  const { observe, logger } = settings;
  const hub = new Hub(settings.limits, (topic) => topicScopes(catalogue, topic), watchSubscribers(settings));
  const asks = new Asks(observe && ((ask) => watchAsk(observe, ask)));
  const elicitationIds = new ElicitationIds(maxElicitations);
  const push = new Push({ hub, asks, elicitationIds, observe });

  const table = new TaskTable(resolveTaskOptions(options.tasks ?? {}, refuseOption), hub);
  const changes = new Changes(settings, push);
  const catalogue: Catalogue = new Catalogue(settings, {
    changed: (list) => changes.note(list),
    hasTaskTool() {
      if (!table.offered) catalogue.extensions.add(extensionIds.tasks, tasksExtension(table));
      table.offered = true;
    },
  });
  const features = new Features(catalogue, settings, table);

  const requestState = new RequestState(info.name, logger);
  const conversations = new Conversations({ requestState, elicitationIds, settings });
  const tasks = tasksOf({ table, conversations, features, settings, hub, asks });
  const onAnnounced = (): void => changes.announced();
  const methods = new Map([
    ...protocolMethods({ info, settings, catalogue, features, hub, tasks, onAnnounced }),
    ...coreTaskMethods(table, settings.pageSize),
  ]);
  const middlewares = new Middlewares();
  const observers = noObservers();
  const asking = conversations;
  const core = { info, settings, catalogue, features, middlewares, observers, hub, asks, methods, asking };
  return { core, push, loads: new Loads(settings.limits.maxInFlightBytes), requestState };
}

/** Collects what changes in one turn and tells it once. */
class Changes {
  readonly #settings: Settings;
  readonly #push: Push;
  readonly #pending = new Set<ChangingList>();
  readonly #seen = new Set<ChangingList>();
  #isAnnounced = false;

  constructor(settings: Settings, push: Push) {
    this.#settings = settings;
    this.#push = push;
  }

  /** Legacy clients have been told the capabilities: they will not hear of a new one. */
  announced(): void {
    this.#isAnnounced = true;
  }

  note(list: ChangingList): void {
    this.#warnIfLate(list);
    if (this.#pending.size === 0) queueMicrotask(() => this.#publish());
    this.#pending.add(list);
  }

  #publish(): void {
    const lists = [...this.#pending];
    this.#pending.clear();
    for (const list of lists) {
      logRejection(this.#settings.logger, "Telling of a change", this.#push.publish(listChanged[list]));
    }
  }

  #warnIfLate(list: ChangingList): void {
    if (this.#seen.has(list)) return;
    this.#seen.add(list);
    if (!this.#isAnnounced || this.#settings.capabilities[list]) return;
    const remedy = `declare { capabilities: { ${list}: true } } when the server is made`;
    this.#settings.logger.warn(`Clients that are connected already were not told of ${list}: ${remedy}`);
  }
}
