// Durations in buckets that grow by a constant factor: small, mergeable across nodes, and exact to 5 %.

/** Each bucket ends 10 % above the one before, so the middle of a bucket is at most 4.8 % off. */
const growth = 1.1;
/** The end of the first bucket, in milliseconds. */
const shortestMs = 0.02;
/** The last one ends after half an hour. */
const bucketCount = 192;

const perBucket = 1 / Math.log(growth);

/** The buckets that are not empty: the number of a bucket, then its count, and so on. */
export type Buckets = readonly number[];

export class Histogram {
  readonly #counts = new Float64Array(bucketCount);
  #count = 0;

  /** How many durations there are. */
  get count(): number {
    return this.#count;
  }

  add(durationMs: number, count: number): void {
    this.#put(bucketOf(durationMs), count);
  }

  merge(buckets: Buckets): void {
    for (let at = 0; at + 1 < buckets.length; at += 2) this.#put(buckets[at] ?? 0, buckets[at + 1] ?? 0);
  }

  buckets(): Buckets {
    const buckets: number[] = [];
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const count = this.#counts[bucket] ?? 0;
      if (count > 0) buckets.push(bucket, count);
    }
    return buckets;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
  }

  /** The durations, in milliseconds, that these shares of all durations do not exceed; undefined if there are none. Shares ascend. */
  percentiles(shares: readonly number[]): (number | undefined)[] {
    if (this.#count === 0) return shares.map(() => undefined);
    let bucket = 0;
    let seen = this.#counts[0] ?? 0;
    return shares.map((share) => {
      const rank = Math.ceil(share * this.#count);
      while (seen < rank && bucket < bucketCount - 1) seen += this.#counts[++bucket] ?? 0;
      return middleOf(bucket);
    });
  }

  #put(bucket: number, count: number): void {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#count += count;
  }
}

/** The percentiles that the page shows. */
export const shownShares = [0.5, 0.9, 0.99] as const;

function bucketOf(durationMs: number): number {
  if (!(durationMs > shortestMs)) return 0;
  return Math.min(Math.ceil(Math.log(durationMs / shortestMs) * perBucket), bucketCount - 1);
}

/** The value whose distance to both ends of the bucket is the same share of those. */
function middleOf(bucket: number): number {
  const end = shortestMs * growth ** bucket;
  return bucket === 0 ? shortestMs : (2 * end) / (growth + 1);
}
