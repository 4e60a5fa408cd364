// The definitions of one kind, by key and in order of registration, and the handles that change them.
import { ConfigurationError } from "../../base/errors.ts";
import { isPlain, type Table } from "../../base/kinds.ts";
import { checkOptions } from "../../base/options.ts";
import { refuseNames } from "../../base/refused-names.ts";
import type { Revision } from "../../protocol/revision.ts";
import { kindOf } from "./result-checks.ts";
import {
  checkDefinition,
  checkDescribed,
  checkNoMore,
  type Described,
  foreignField,
  refuseField,
  type Registration,
} from "./definition.ts";

/** Changes a definition after its registration. The server notifies subscribed clients of every change. */
export interface Handle<Changes = never> {
  /** The name, URI or URI template of the definition. */
  readonly key: string;
  /** Whether clients see the definition. */
  readonly enabled: boolean;
  /** Replaces the fields in `changes` and keeps the others. */
  update(changes: Changes): void;
  /** Shows the definition to clients again, after `disable()`. */
  enable(): void;
  /** Hides the definition from clients until you enable it again. */
  disable(): void;
  /** Returns false if it was removed before. */
  remove(): boolean;
}

/** How one kind of definition is checked and published. */
export interface DefinitionKind<Options, Compiled> {
  readonly noun: string;
  /** The name of the key in messages. */
  readonly keyField: string;
  /** The call that registers one, for messages. */
  readonly usage: string;
  /** The fields that a definition may have, for `checkOptions`. */
  readonly fields: Table;
  /** Throws a ConfigurationError that names the subject and the field if the options cannot work. */
  compile(key: string, options: Options, subject: string): Compiled;
  /** The definition as the revision publishes it. */
  publish(compiled: Compiled, revision: Revision): object;
}

/** A published definition and its JSON text, created once per revision. */
export interface Published {
  readonly value: object;
  readonly text: string;
}

export class Entry<Options, Compiled> {
  readonly key: string;
  /** Its position in the order of registration. Updates keep it, and it is never reused. */
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
    if (!published) {
      const value = Object.freeze(kind.publish(this.compiled, revision));
      published = { value, text: JSON.stringify(value) };
      this.#published.set(revision, published);
    }
    return published;
  }
}

/** A registration returns its handle, and not the server as in other packages. */
const handleNames = refuseNames(
  {},
  {
    subject: "The handle",
    methods: {
      "tool resource resourceTemplate prompt": "the server: registrations cannot be chained",
      delete: "remove()",
    },
  },
);

/** Definitions of one kind. A lookup takes the same time for any number of them. */
export class Registry<Options extends object, Compiled> {
  readonly kind: DefinitionKind<Options, Compiled>;
  readonly #onChange: () => void;
  readonly #entries = new Map<string, Entry<Options, Compiled>>();
  #sequence = 0;
  /** Whether any definition has, or had, `scopes`. */
  isScoped = false;
  /** Whether a client has listed the definitions since another node announced that its own have changed. */
  isListed = false;
  #visible: readonly Entry<Options, Compiled>[] | undefined;

  constructor(kind: DefinitionKind<Options, Compiled>, onChange: () => void) {
    this.kind = kind;
    this.#onChange = onChange;
  }

  /** Whether anything was ever registered. */
  get used(): boolean {
    return this.#sequence > 0;
  }

  /** The position of the newest definition, even if it was removed; 0 before the first. */
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

  /** The definition with this key, if it is enabled. */
  find(key: string): Compiled | undefined {
    const entry = this.#entries.get(key);
    return entry?.enabled ? entry.compiled : undefined;
  }

  /** The definition with this key, enabled or not. */
  peek(key: string): Compiled | undefined {
    return this.#entries.get(key)?.compiled;
  }

  /** Every entry, enabled or not, in order of registration. */
  get all(): Iterable<Entry<Options, Compiled>> {
    return this.#entries.values();
  }

  add(...given: Registration): Handle {
    const [key, definition, handler] = given;
    const { noun, keyField } = this.kind;
    checkDefinition(this.kind, key, definition);
    checkNoMore(this.kind, given);
    const options = { ...definition, handler } as unknown as Options;
    if (this.#entries.has(key)) {
      const where = { subject: `${noun} "${key}"`, field: keyField };
      throw new ConfigurationError(
        "DUPLICATE_NAME",
        where,
        "is already registered: remove or update the first one",
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
    return Object.setPrototypeOf(
      {
        key: entry.key,
        get enabled() {
          return entry.enabled && isCurrent();
        },
        update: (changes) => {
          this.#checkChanges(entry.key, changes);
          const options = { ...entry.options, ...changes };
          entry.replace(options, this.#compile(entry.key, options));
          if (isCurrent() && entry.enabled) this.#changed();
        },
        enable: () => setEnabled(true),
        disable: () => setEnabled(false),
        remove: () => isCurrent() && this.remove(entry.key),
      } satisfies Handle<Partial<Options>>,
      handleNames,
    ) as Handle<Partial<Options>>;
  }

  #checkChanges(key: string, changes: unknown): void {
    const { noun, keyField } = this.kind;
    const subject = `${noun} "${key}"`;
    if (!isPlain(changes))
      refuseField(subject, "update()", `takes changes such as { handler }, not ${kindOf(changes)}`);
    if (keyField in changes)
      refuseField(
        subject,
        keyField,
        `cannot change: remove() the ${noun}, and register it under the new ${keyField}`,
      );
    checkDefinition(this.kind, key, changes);
  }

  #compile(key: string, options: Options): Compiled {
    const { noun, fields } = this.kind;
    const subject = `${noun} "${key}"`;
    const problem = (name: string, value: unknown): string | undefined => foreignField(name, value, fields);
    checkOptions({ subject, code: "INVALID_DEFINITION", problem }, options, fields);
    checkDescribed(subject, options);
    const compiled = this.kind.compile(key, options, subject);
    if ((options as Described).scopes !== undefined) this.isScoped = true;
    return compiled;
  }

  #changed(): void {
    this.#visible = undefined;
    this.#onChange();
  }
}
