// Runs contenders interleaved in rotated order and compares their CPU time by paired ratios.
const SETTLE_SHARE = 0.1;

/** Measures every contender once a round; returns, for each name, its CPU microseconds per request, round by round. */
export async function runRounds(contenders, rounds) {
  if (rounds < 10) throw new Error("fewer than 10 rounds say little on a shared machine");
  const samples = new Map(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, measure } of rotate(contenders, round)) samples.get(name).push(await measure());
  }
  return samples;
}

function rotate(list, by) {
  const cut = by % list.length;
  return [...list.slice(cut), ...list.slice(0, cut)];
}

/** A contender of this process: `run(count)` does `count` requests; it is warmed up here, before any round. */
export async function inProcess(name, run, count) {
  await run(count * 2);
  return { name, measure: () => measureOwnCpu(run, count) };
}

async function measureOwnCpu(run, count) {
  await run(Math.ceil(count * SETTLE_SHARE));
  globalThis.gc?.({ type: "minor" });
  const before = process.cpuUsage();
  await run(count);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/** The ratio of two contenders, taken round by round and summed up. */
export function pairedRatio(samples, name, base) {
  const bases = samples.get(base);
  return summary(samples.get(name).map((value, round) => value / bases[round]));
}

/** What one contender costs more than another, taken round by round and summed up. */
export function pairedDifference(samples, name, base) {
  const bases = samples.get(base);
  return summary(samples.get(name).map((value, round) => value - bases[round]));
}

/** Median and spread of a list of figures. */
export function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => quantile(sorted, share);
  return { median: at(0.5), min: at(0), p25: at(0.25), p75: at(0.75), max: at(1) };
}

function quantile(sorted, share) {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  return low + (high - low) * (place - Math.floor(place));
}
