// The options of a server: those of its core, and those of tasks.
import { type Known, limitsOf } from "../base/kinds.ts";
import { checkOptions } from "../base/options.ts";
import { type CoreOptions, knownCoreOptions, optionElsewhere } from "./settings/settings.ts";
import { defaultTaskOptions, type TaskOptions } from "./tasks/options.ts";

/** The options of a server. All have defaults. */
export interface ServerOptions extends CoreOptions {
  /** How the server runs and stores tasks. */
  readonly tasks?: TaskOptions | undefined;
}

const knownOptions: Known<ServerOptions> = { ...knownCoreOptions, tasks: limitsOf(defaultTaskOptions) };

/** Throws for an option that is unknown or of another kind. */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions({ subject: "server", problem: optionElsewhere }, options, knownOptions);
}
