// Keys as they stand on a keyboard.
import type { VNode } from "preact";

const names: Readonly<Record<string, string>> = {
  Escape: "Esc",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowDown: "↓",
  ArrowUp: "↑",
  Enter: "↵",
};

/** `keys` in the notation of a binding: `g n`. */
export function Key({ keys }: { readonly keys: string }): VNode {
  return (
    <span class="keys" aria-hidden="true">
      {keys.split(" ").map((key) => (
        <kbd key={key}>{names[key] ?? key}</kbd>
      ))}
    </span>
  );
}
