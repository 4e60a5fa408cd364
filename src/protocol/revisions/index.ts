// The list of revisions that Halyard supports, and how to find one. A new revision is a new file and a line here.
import type { Revision, RevisionDate } from "../revision.ts";
import { revision20241105 } from "./2024-11-05.ts";
import { revision20250326 } from "./2025-03-26.ts";
import { revision20250618 } from "./2025-06-18.ts";
import { revision20251125 } from "./2025-11-25.ts";
import { revision20260728 } from "./2026-07-28.ts";

/** Every revision, newest first. */
export const revisions: readonly Revision[] = [
  revision20260728,
  revision20251125,
  revision20250618,
  revision20250326,
  revision20241105,
];

const byDate: ReadonlyMap<unknown, Revision> = new Map(
  revisions.map((revision) => [revision.date, revision]),
);

/** The revision of that date, if Halyard supports it. */
export function findRevision(date: unknown): Revision | undefined {
  return byDate.get(date);
}

/** The revisions that one server supports. */
export class SpokenRevisions {
  readonly #byDate: ReadonlyMap<unknown, Revision>;
  /** The newest revision. */
  readonly newest: Revision | undefined;
  /** The newest modern revision, if the server supports one. */
  readonly modern: Revision | undefined;
  /** The newest legacy revision, if the server supports one. */
  readonly legacy: Revision | undefined;

  constructor(isSpoken: (revision: Revision) => boolean) {
    const spoken = revisions.filter(isSpoken);
    this.#byDate = new Map(spoken.map((revision) => [revision.date, revision]));
    this.newest = spoken[0];
    this.modern = spoken.find(({ era }) => era === "modern");
    this.legacy = spoken.find(({ era }) => era === "legacy");
  }

  find(date: unknown): Revision | undefined {
    return this.#byDate.get(date);
  }

  /** Whether any revision of an era has a request of that name. */
  has(method: string, era: Revision["era"]): boolean {
    return [...this.#byDate.values()].some(
      (revision) => revision.era === era && revision.requests.has(method),
    );
  }

  /** The dates of all revisions, or those of one era, newest first. */
  dates(era?: Revision["era"]): RevisionDate[] {
    const spoken = [...this.#byDate.values()];
    return spoken.filter((revision) => (era ?? revision.era) === revision.era).map(({ date }) => date);
  }
}

/** Whether any revision has a request of that name, in either direction. */
export function isProtocolMethod(name: string): boolean {
  return revisions.some(({ requests, clientRequests }) => requests.has(name) || clientRequests.has(name));
}

/** The revision of a legacy HTTP client that sends no version header: the last revision before that header existed. */
export const revisionWithoutHeader: Revision = revision20250326;
