// Warns of a capability that appears after a client has asked for the capabilities: that client will not use it.
import type { Logger } from "../base/logging/logger.ts";
import type { Feature } from "../protocol/revision.ts";
import type { Extensions } from "./catalogue/extensions.ts";

/** The features that the option `capabilities` can declare in advance. */
const declarable = ["tools", "prompts", "resources", "completions"] as const satisfies readonly Feature[];

interface CapabilityParts {
  readonly features: { has(feature: Feature): boolean };
  readonly extensions: Extensions;
  readonly logger: Logger;
}

export class LateCapabilities {
  readonly #parts: CapabilityParts;
  /** The capabilities that the first client received, and those that this has warned of. Undefined before the first client. */
  #known: Set<string> | undefined;
  #isPending = false;

  constructor(parts: CapabilityParts) {
    this.#parts = parts;
  }

  /** Called when the server sends its capabilities to a client. */
  announced(): void {
    this.#known ??= new Set(this.#present().keys());
  }

  /** Called when something is registered. Looks once per turn, since it goes through all definitions. */
  note(): void {
    if (this.#known === undefined || this.#isPending) return;
    this.#isPending = true;
    queueMicrotask(() => this.#warn(this.#known as Set<string>));
  }

  #warn(known: Set<string>): void {
    this.#isPending = false;
    for (const [what, remedy] of this.#present()) {
      if (known.has(what)) continue;
      known.add(what);
      this.#parts.logger.warn(`Clients that asked before do not know that the server has ${what}: ${remedy}`);
    }
  }

  /** The capabilities that the server has now, each with how to declare it in advance. */
  #present(): Map<string, string> {
    const { features, extensions } = this.#parts;
    const present = new Map<string, string>();
    for (const feature of declarable.filter((name) => features.has(name)))
      present.set(feature, `pass { capabilities: { ${feature}: true } } to the McpServer constructor`);
    for (const identifier of Object.keys(extensions.settings("modern") ?? {}))
      present.set(`the extension ${identifier}`, "add it before the first client connects");
    return present;
  }
}
