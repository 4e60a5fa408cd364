// The code that only the nodes of a cluster need. A backplane brings it, so that a server without one does not carry it.

/** Names one such part, in the layer that uses it: {@link Cluster.part} returns it, and undefined for a process alone. */
export class PartKind<Part> {
  readonly name: string;
  declare protected readonly part: Part;

  constructor(name: string) {
    this.name = name;
  }
}

/** The parts that a backplane brings, by kind. */
export type Parts = ReadonlyMap<PartKind<unknown>, unknown>;

/** What a kind names. */
export type PartOf<Kind> = Kind extends PartKind<infer Part> ? Part : never;
