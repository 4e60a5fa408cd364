// A word in a colour that shows whether it is good or bad.
import type { ComponentChildren, VNode } from "preact";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

export interface BadgeProps {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
  readonly title?: string;
}

export function Badge({ tone = "plain", children, title }: BadgeProps): VNode {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
