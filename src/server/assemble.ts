// Puts the parts of a server together, and turns changes of the catalogue into notifications, once per burst.
import { Loads } from "../limits/loads.ts";
import { extensionIds } from "../protocol/meta.ts";
import type { Implementation } from "../protocol/model.ts";
import { listChanged } from "../protocol/notifications.ts";
import { Asks } from "../push/asks.ts";
import { Hub } from "../push/hub.ts";
import { watchAsk } from "./asking/ask-events.ts";
import { logRejection } from "../diagnostics/rate-limited-log.ts";
import { ElicitationIds } from "./asking/elicitation-ids.ts";
import { RequestState } from "./request-state/request-state.ts";
import { methodKind } from "./catalogue/methods.ts";
import { promptKind } from "./catalogue/prompts.ts";
import { Registry } from "./catalogue/registry.ts";
import { resourceKind, templateKind } from "./catalogue/resources.ts";
import { toolKind } from "./catalogue/tools.ts";
import type { Core } from "./calls/core.ts";
import { Extensions } from "./catalogue/extensions.ts";
import { Features } from "./catalogue/features.ts";
import { Middlewares } from "./calls/middleware.ts";
import type { Settings } from "./options.ts";
import { Push } from "./push.ts";
import { topicScopes } from "./catalogue/scopes.ts";
import { watchSubscribers } from "./catalogue/subscriptions.ts";
import { tasksExtension } from "./tasks/extension.ts";
import { TaskTable } from "./tasks/table.ts";

/** Pages that users were sent to, whose clients wait to hear that they are done. */
const maxElicitations = 10_000;

type List = keyof typeof listChanged;

export function assemble(info: Implementation, settings: Settings): { core: Core; push: Push } {
  const scopesOf = (topic: string): readonly string[] | undefined => topicScopes(parts, topic);
  const hub = new Hub(settings.limits, scopesOf, watchSubscribers(settings));
  const { observe } = settings;
  const asks = new Asks(observe && ((ask) => watchAsk(observe, ask)));
  const elicitations = new ElicitationIds(maxElicitations);
  const push = new Push({ hub, asks, elicitations, observe });
  const announced = { legacy: false };
  const changes = new Changes(settings, push, announced);
  const tasks = new TaskTable(settings.tasks, hub);
  const methods = new Registry(
    methodKind((name) => extensions.requests.has(name), settings),
    () => {},
  );
  const extensions: Extensions = new Extensions((name) => methods.get(name) !== undefined);
  const offerTasks = (): void => {
    if (!tasks.offered) extensions.add(extensionIds.tasks, tasksExtension(tasks));
    tasks.offered = true;
  };
  const parts = {
    info,
    settings,
    loads: new Loads(settings.limits.maxInFlightBytes),
    hub,
    asks,
    announced,
    elicitations,
    requestState: new RequestState(info.name, settings.logger),
    tasks,
    tools: new Registry(toolKind(offerTasks, settings), () => changes.note("tools")),
    prompts: new Registry(promptKind(settings), () => changes.note("prompts")),
    resources: new Registry(resourceKind, () => changes.note("resources")),
    templates: new Registry(templateKind, () => changes.note("resources")),
    methods,
    completion: { handler: undefined },
    extensions,
    middlewares: new Middlewares(),
    observers: {
      notification: undefined,
      rootsChanged: undefined,
      initialized: undefined,
      sessionClosed: undefined,
    },
  };
  return { core: { ...parts, features: new Features(parts) }, push };
}

/** Collects what changes in one turn and tells it once. */
class Changes {
  readonly #settings: Settings;
  readonly #push: Push;
  readonly #announced: { readonly legacy: boolean };
  readonly #pending = new Set<List>();
  readonly #seen = new Set<List>();

  constructor(settings: Settings, push: Push, announced: { readonly legacy: boolean }) {
    this.#settings = settings;
    this.#push = push;
    this.#announced = announced;
  }

  note(list: List): void {
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

  #warnIfLate(list: List): void {
    if (this.#seen.has(list)) return;
    this.#seen.add(list);
    if (!this.#announced.legacy || this.#settings.capabilities[list]) return;
    const remedy = `declare { capabilities: { ${list}: true } } when the server is made`;
    this.#settings.logger.warn(`Clients that are connected already were not told of ${list}: ${remedy}`);
  }
}
