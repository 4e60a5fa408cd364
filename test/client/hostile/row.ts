// One row: something that a hostile server does to a client, and what comes of it.

export interface Row {
  /** What the server tries, and what happens instead, in plain words. */
  readonly name: string;
  /** The limit of docs/reference/limits.md that it runs into. */
  readonly limit?: string;
  /** The requirements that it shows. */
  readonly requirements?: readonly string[];
  attack(): Promise<void>;
}
