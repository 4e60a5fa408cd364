// The settings of a server: its options, completed, and what follows from them.
import { ConfigurationError } from "../../base/errors.ts";
import { guardedLogger } from "../../base/logging/logger.ts";
import { withDefaults } from "../../base/options.ts";
import { SpokenRevisions } from "../../protocol/revisions/index.ts";
import { type Diagnostics, guardedObserver } from "../diagnostics/events.ts";
import { type CoreOptions, type CoreSettings, knownCoreOptions, type ServerMode } from "./options.ts";

export interface Settings extends Omit<CoreSettings, "logger" | "observe" | "scopedLists">, Diagnostics {
  readonly revisions: SpokenRevisions;
  /** Whether lists include definitions whose scopes the caller lacks. */
  readonly listsAll: boolean;
  /** Whether the author passed a logger. */
  readonly hasLogger: boolean;
}

/** Fills in the defaults. Throws for an option that cannot work with others; `readServerOptions` has checked each by itself. */
export function resolveSettings(options: CoreOptions): Settings {
  const { scopedLists, observe, ...given } = withDefaults(options, knownCoreOptions);
  const logger = guardedLogger(given.logger);
  const { mode, revisions } = resolveRevisions(given.mode, options.supportedRevisions);
  if (mode === "stateless" && given.requireInitialized) {
    refuseOption(
      "requireInitialized",
      'requires a session, which mode "stateless" does not have: use "both" or "stateful"',
    );
  }
  return {
    ...given,
    mode,
    revisions,
    listsAll: scopedLists === "all",
    logger,
    hasLogger: options.logger !== undefined,
    ...(observe && { observe: guardedObserver(observe, logger) }),
  };
}

/** The supported revisions, and the mode, which narrows if all of them are of one era. */
function resolveRevisions(
  mode: ServerMode,
  supportedRevisions: readonly string[] | undefined,
): Pick<Settings, "mode" | "revisions"> {
  const known = new SpokenRevisions(({ era }) => mode !== "stateful" || era === "legacy");
  if (supportedRevisions === undefined) return { mode, revisions: known };
  const choice = `${mode === "stateful" ? 'with mode "stateful" ' : ""}choose from ${known.dates().join(", ")}`;
  if (supportedRevisions.length === 0) refuseOption("supportedRevisions", `is empty: ${choice}`);
  const unknown = supportedRevisions.find((date) => known.find(date) === undefined);
  if (unknown !== undefined) refuseOption("supportedRevisions", `has ${JSON.stringify(unknown)}: ${choice}`);
  const revisions = new SpokenRevisions(({ date }) => supportedRevisions.includes(date));
  if (!revisions.legacy) return { mode: "stateless", revisions };
  return { mode: !revisions.modern && mode === "both" ? "stateful" : mode, revisions };
}

/** Throws for an invalid option of the server. */
function refuseOption(field: string, problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "server", field }, problem);
}
