// The options of a server: those of its core, and those of tasks.
import type { Known } from "../base/kinds.ts";
import { checkOptions, withDefaults } from "../base/options.ts";
import { type CoreOptions, knownCoreOptions } from "./settings/options.ts";
import { optionElsewhere } from "./settings/other-options.ts";
import { resolveSettings, type Settings } from "./settings/settings.ts";
import { type TaskOptions, taskOptions, type TaskSettings } from "./tasks/options.ts";

/** The options of a server. All have defaults. */
export interface ServerOptions extends CoreOptions {
  /** How the server runs and stores tasks. */
  readonly tasks?: TaskOptions | undefined;
}

interface ServerSettings {
  readonly settings: Settings;
  readonly tasks: TaskSettings;
}

const knownTasks: Known<Pick<ServerOptions, "tasks">, Pick<ServerSettings, "tasks">> = { tasks: taskOptions };

/** Throws for an option that is unknown, of another kind, or cannot work with others, and fills in the defaults. */
export function readServerOptions(options: ServerOptions): ServerSettings {
  checkOptions({ subject: "server", problem: optionElsewhere }, options, {
    ...knownCoreOptions,
    ...knownTasks,
  });
  return { settings: resolveSettings(options), ...withDefaults({ tasks: options.tasks }, knownTasks) };
}
