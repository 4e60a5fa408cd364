// The options that an author gives a server: those of its core, and those of tasks.
import { checkOptions, type Known } from "../options.ts";
import { type CoreOptions, knownCoreOptions } from "./settings/settings.ts";
import { knownTaskOptions, type TaskOptions } from "./tasks/options.ts";

/** How a server behaves; everything has a default. */
export interface ServerOptions extends CoreOptions {
  /** How tools that may be called as tasks are run and kept. */
  readonly tasks?: TaskOptions;
}

const knownOptions: Known<ServerOptions> = { ...knownCoreOptions, tasks: knownTaskOptions };

/** Throws for a name that is not an option, with the nearest one that is. */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions({ subject: "server" }, options, knownOptions);
}
