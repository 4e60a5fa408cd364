// Figures as text: short, and of similar widths, so that they do not move the text beside them.

const whole = new Intl.NumberFormat("en");
/** The place of a figure that is not known. */
export const nothing = "–";

/** `12,345`. */
export function formatCount(count: number | undefined): string {
  return count === undefined ? nothing : whole.format(Math.round(count));
}

/** `0.4`, `12.3`, `1,234`: of a rate. */
export function formatRate(rate: number | undefined): string {
  if (rate === undefined) return nothing;
  return rate < 100 ? rate.toFixed(1) : whole.format(Math.round(rate));
}

const byteUnits = ["B", "KB", "MB", "GB", "TB"];

/** `0 B`, `12.3 KB`, `4.0 MB`. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return nothing;
  let [value, unit] = [bytes, 0];
  while (value >= 1_000 && unit < byteUnits.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${byteUnits[unit]}`;
}

/** How long something took: `420 µs`, `12.3 ms`, `320 ms`, `1.25 s`, `2 m 05 s`. */
export function formatLatency(ms: number | undefined | null): string {
  if (ms === undefined || ms === null) return nothing;
  if (ms < 0.001) return "< 1 µs";
  if (ms < 1) return `${Math.min(999, Math.round(ms * 1_000))} µs`;
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(2)} s` : formatDuration(ms);
}

/** How long something has lasted, to the second: `4 s`, `2 m 05 s`, `3 h 07 m`, `2 d 04 h`. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined) return nothing;
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const pair = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
    `${large} ${largeUnit} ${String(small).padStart(2, "0")} ${smallUnit}`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return pair(Math.floor(seconds / 60), "m", seconds % 60, "s");
  if (seconds < 86_400)
    return pair(Math.floor(seconds / 3_600), "h", Math.floor((seconds % 3_600) / 60), "m");
  return pair(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3_600), "h");
}

/** `now`, `4 s ago`. */
export function formatAgo(ms: number): string {
  return ms < 1_000 ? "now" : `${formatDuration(ms)} ago`;
}

/** The time of day: `14:05:09`, or with `ms` `14:05:09.042`. */
export function formatTime(at: number, withMs = false): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return withMs ? `${time}.${String(date.getMilliseconds()).padStart(3, "0")}` : time;
}
