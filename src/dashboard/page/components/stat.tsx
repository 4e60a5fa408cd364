// One figure with its name.
import type { VNode } from "preact";
import type { Tone } from "./badge.tsx";

export interface StatProps {
  readonly name: string;
  readonly value: string;
  readonly tone?: Tone;
  /** Where the figure is explained: it becomes a link. */
  readonly href?: string;
  readonly hint?: string;
}

export function Stat({ name, value, tone = "plain", href, hint }: StatProps): VNode {
  const figure = (
    <>
      <span class="stat-name">{name}</span>
      <span class={`stat-value ${tone}`}>{value}</span>
    </>
  );
  return href === undefined ? (
    <div class="stat" title={hint}>
      {figure}
    </div>
  ) : (
    <a class="stat" href={href} title={hint}>
      {figure}
    </a>
  );
}
