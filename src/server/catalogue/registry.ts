// One kind of thing the server offers, by key and in order of registration, and the handles that change it.
import { ConfigurationError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { Revision } from "../../protocol/revision.ts";
import { checkDefinition, type Described, foreignField } from "./definition.ts";

/** What has been registered, for changing it later; every change reaches the clients that listen, by itself. */
export interface Handle<Changes = never> {
  /** The name, URI or URI template it was registered under. */
  readonly key: string;
  readonly enabled: boolean;
  /** Replaces what `changes` names and keeps the rest. */
  update(changes: Changes): void;
  enable(): void;
  /** As if it were not there, until it is enabled again. */
  disable(): void;
  /** False when it had been removed already. */
  remove(): boolean;
}

/** How one kind of definition is checked and published. */
export interface DefinitionKind<Options, Compiled> {
  readonly noun: string;
  /** What the key is called. */
  readonly keyField: string;
  /** How an author registers one. */
  readonly usage: string;
  /** The fields that a definition may have, as `checkOptions` takes them. */
  readonly fields: object;
  /** Throws a ConfigurationError that names the key and the field when the options cannot work. */
  compile(key: string, options: Options): Compiled;
  /** The definition as clients of that revision see it. */
  publish(compiled: Compiled, revision: Revision): object;
}

/** A published definition and its JSON text, made once per revision. */
export interface Published {
  readonly value: object;
  readonly text: string;
}

export class Entry<Options, Compiled> {
  readonly key: string;
  /** Its place in the order: kept when it changes, never used again. */
  readonly sequence: number;
  options: Options;
  compiled: Compiled;
  enabled = true;
  readonly #published = new Map<Revision, Published>();

  constructor(key: string, sequence: number, options: Options, compiled: Compiled) {
    this.key = key;
    this.sequence = sequence;
    this.options = options;
    this.compiled = compiled;
  }

  replace(options: Options, compiled: Compiled): void {
    this.options = options;
    this.compiled = compiled;
    this.#published.clear();
  }

  published(kind: DefinitionKind<Options, Compiled>, revision: Revision): Published {
    let published = this.#published.get(revision);
    if (published === undefined) {
      const value = Object.freeze(kind.publish(this.compiled, revision));
      published = { value, text: JSON.stringify(value) };
      this.#published.set(revision, published);
    }
    return published;
  }
}

/** Definitions of one kind. A lookup does not depend on how many there are. */
export class Registry<Options extends object, Compiled> {
  readonly kind: DefinitionKind<Options, Compiled>;
  readonly #onChange: () => void;
  readonly #entries = new Map<string, Entry<Options, Compiled>>();
  #sequence = 0;
  /** Whether a definition names scopes, or ever did. */
  isScoped = false;
  #visible: readonly Entry<Options, Compiled>[] | undefined;

  constructor(kind: DefinitionKind<Options, Compiled>, onChange: () => void) {
    this.kind = kind;
    this.#onChange = onChange;
  }

  /** Whether anything has ever been registered. */
  get used(): boolean {
    return this.#sequence > 0;
  }

  /** The place of the newest one, removed since or not: 0 before the first. */
  get last(): number {
    return this.#sequence;
  }

  /** How many are enabled. */
  get size(): number {
    return this.visible.length;
  }

  /** The enabled entries, in order of registration. A new array after each change. */
  get visible(): readonly Entry<Options, Compiled>[] {
    this.#visible ??= [...this.#entries.values()].filter((entry) => entry.enabled);
    return this.#visible;
  }

  /** What is registered under `key`, if it is enabled. */
  find(key: string): Compiled | undefined {
    const entry = this.#entries.get(key);
    return entry?.enabled ? entry.compiled : undefined;
  }

  /** The same, enabled or not. */
  peek(key: string): Compiled | undefined {
    return this.#entries.get(key)?.compiled;
  }

  /** Every entry, enabled or not, in order of registration. */
  get all(): Iterable<Entry<Options, Compiled>> {
    return this.#entries.values();
  }

  add(key: string, definition: object, handler: unknown): Handle<Partial<Options>> {
    const { noun, keyField, usage } = this.kind;
    checkDefinition(noun, key, definition, usage);
    const options = { ...definition, handler } as unknown as Options;
    if (this.#entries.has(key)) {
      const where = { subject: `${noun} "${key}"`, field: keyField };
      throw new ConfigurationError(
        "DUPLICATE_NAME",
        where,
        "is registered already: remove or update the first one",
      );
    }
    const entry = new Entry(key, ++this.#sequence, options, this.#compile(key, options));
    this.#entries.set(key, entry);
    this.#changed();
    return this.#handle(entry);
  }

  get(key: string): Handle<Partial<Options>> | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#handle(entry);
  }

  remove(key: string): boolean {
    const wasVisible = this.find(key) !== undefined;
    const removed = this.#entries.delete(key);
    if (wasVisible) this.#changed();
    return removed;
  }

  #handle(entry: Entry<Options, Compiled>): Handle<Partial<Options>> {
    const isCurrent = (): boolean => this.#entries.get(entry.key) === entry;
    const setEnabled = (enabled: boolean): void => {
      if (entry.enabled === enabled) return;
      entry.enabled = enabled;
      if (isCurrent()) this.#changed();
    };
    return {
      key: entry.key,
      get enabled() {
        return entry.enabled && isCurrent();
      },
      update: (changes) => {
        checkDefinition(this.kind.noun, entry.key, changes, this.kind.usage);
        const options = { ...entry.options, ...changes };
        entry.replace(options, this.#compile(entry.key, options));
        if (isCurrent() && entry.enabled) this.#changed();
      },
      enable: () => setEnabled(true),
      disable: () => setEnabled(false),
      remove: () => isCurrent() && this.remove(entry.key),
    };
  }

  #compile(key: string, options: Options): Compiled {
    const { noun, fields } = this.kind;
    const problem = (name: string, value: unknown): string | undefined => foreignField(name, value, fields);
    checkOptions({ subject: `${noun} "${key}"`, code: "INVALID_DEFINITION", problem }, options, fields);
    const compiled = this.kind.compile(key, options);
    if ((options as Described).scopes !== undefined) this.isScoped = true;
    return compiled;
  }

  #changed(): void {
    this.#visible = undefined;
    this.#onChange();
  }
}
