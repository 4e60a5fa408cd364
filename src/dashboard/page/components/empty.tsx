// Shown in a view without content: the reason, and what to do next.
import type { ComponentChildren, VNode } from "preact";

export interface EmptyProps {
  readonly title: string;
  /** What to do next. */
  readonly children?: ComponentChildren;
}

export function Empty({ title, children }: EmptyProps): VNode {
  return (
    <div class="empty" role="status">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
