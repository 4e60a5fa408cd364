// What goes on now.
import type { VNode } from "preact";
import { usePolled } from "../base/polling.ts";
import { formatCount, formatRate } from "../base/format.ts";
import { Stat } from "../components/stat.tsx";

export function Now(): VNode | null {
  const { answer } = usePolled("now", {}, 1_000);
  if (answer === undefined) return null;
  const { counts, callsPerSecond } = answer;
  return (
    <div class="stats">
      <Stat name="Calls per second" value={formatRate(callsPerSecond)} />
      <Stat name="Sessions" value={formatCount(counts.sessions)} />
    </div>
  );
}
