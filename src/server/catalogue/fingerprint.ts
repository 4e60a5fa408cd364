// A digest of what each list publishes, by which nodes notice that their catalogues differ.
import { digestOf } from "../../cluster/engine/log-entries.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { Catalogue, ChangingList } from "./catalogue.ts";
import type { Described } from "./definition.ts";
import type { Registry } from "./registry.ts";

type AnyRegistry = Registry<object, unknown>;

/** The definitions that a list publishes. */
export const registriesOf: Readonly<Record<ChangingList, (catalogue: Catalogue) => readonly AnyRegistry[]>> =
  {
    tools: ({ tools }) => [tools],
    prompts: ({ prompts }) => [prompts],
    resources: ({ resources, templates }) => [resources, templates],
  };

/** Computed once for each array of visible entries: a change creates a new array. */
const digests = new WeakMap<readonly unknown[], string>();

/** The fingerprint of a list: equal if clients of these revisions see the same definitions, whatever their order. */
export function fingerprintOf(
  catalogue: Catalogue,
  list: ChangingList,
  revisions: readonly (Revision | undefined)[],
): string {
  return registriesOf[list](catalogue)
    .map((registry) => digestOfAll(registry, revisions))
    .join(".");
}

function digestOfAll(registry: AnyRegistry, revisions: readonly (Revision | undefined)[]): string {
  const { visible, kind } = registry;
  let digest = digests.get(visible);
  if (digest === undefined) {
    const texts = visible.map((entry) => {
      const published = revisions.map((revision) => revision && entry.published(kind, revision).text);
      return JSON.stringify([...published, (entry.options as Described).scopes]);
    });
    digests.set(visible, (digest = digestOf(texts.toSorted().join())));
  }
  return digest;
}
