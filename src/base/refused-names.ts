// Names that other packages use: using one of them throws an error that names the replacement.

/** Names, separated by spaces, and their replacements here. */
type Replacements = Readonly<Record<string, string>>;

export interface RefusedNames {
  /** The object that should have the names, for the messages. */
  readonly subject: string;
  readonly methods: Replacements;
  /** Properties that users of other packages read. */
  readonly read?: Replacements;
  /** Properties that users of other packages set. */
  readonly set?: Replacements;
}

/**
 * Puts an object with getters for the names behind a prototype, and returns that object. They are not enumerable, the compiler
 * does not know them, and subclasses can define them.
 */
export function refuseNames(
  prototype: object,
  { subject, methods, read = {}, set = {} }: RefusedNames,
): object {
  const names: object = Object.create(Object.getPrototypeOf(prototype));
  for (const [name, remedy] of namesIn(methods))
    Object.defineProperty(names, name, { value: () => refuse(subject, `${name}()`, remedy), writable: true });
  for (const [name, remedy] of namesIn(read))
    defineReplaceable(names, name, () => refuse(subject, name, remedy));
  for (const [name, remedy] of namesIn(set)) {
    const setter = (): void => refuse(subject, name, remedy);
    Object.defineProperty(names, name, { set: setter });
  }
  Object.setPrototypeOf(prototype, names);
  return names;
}

/**
 * Makes one object throw for names that it does not have, which would otherwise read undefined. Copies and comparisons ignore
 * them.
 */
export function refuseOn<Value extends object>(value: Value, subject: string, read: Replacements): Value {
  for (const [name, remedy] of namesIn(read)) {
    if (name in value || !Object.isExtensible(value)) continue;
    const get = (): never => refuse(subject, name, remedy);
    Object.defineProperty(value, name, { get });
  }
  return value;
}

/** Makes the promise that `call` returned throw for the members of its value, which are read before awaiting it. */
export function refuseUnawaited<Value>(
  promise: Promise<Value>,
  call: string,
  members: readonly string[],
): Promise<Value> {
  return refuseOn(promise, `The promise of ${call}()`, { [members.join(" ")]: `await ${call}(…)` });
}

function refuse(subject: string, name: string, remedy: string): never {
  throw new TypeError(`${subject} has no ${name}: use ${remedy}`);
}

/** Defines a property that subclasses may set. */
export function defineReplaceable(names: object, name: string, get: (this: object) => unknown): void {
  Object.defineProperty(names, name, {
    get,
    set(this: object, value) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
    },
  });
}

function namesIn(replacements: Replacements): [name: string, remedy: string][] {
  return Object.entries(replacements).flatMap(([names, remedy]) =>
    names.split(" ").map((name): [string, string] => [name, remedy]),
  );
}
