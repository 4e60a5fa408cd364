// The code that only the nodes of a cluster need. A backplane contains it, so that a server without one need not load it.

/** Names such a part, in the layer that uses it. {@link Cluster.part} returns the part, and undefined for a process alone. */
export class PartKind<Part> {
  readonly name: string;
  declare protected readonly part: Part;

  constructor(name: string) {
    this.name = name;
  }
}

/** The parts that a backplane contains, by kind. */
export type Parts = ReadonlyMap<PartKind<unknown>, unknown>;

/** The type of the part of a kind. */
export type PartOf<Kind> = Kind extends PartKind<infer Part> ? Part : never;
