// A button that puts a text on the clipboard, and says that it did.
import type { VNode } from "preact";
import { useState } from "preact/hooks";

const shownMs = 1_500;

export function CopyButton({ label, text }: { readonly label: string; readonly text: () => string }): VNode {
  const [said, say] = useState("");
  const copy = (): void => {
    void navigator.clipboard.writeText(text()).then(
      () => say("Copied"),
      () => say("Not allowed"),
    );
    setTimeout(() => say(""), shownMs);
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={label}>
      {/* Both texts take the same place, so that the button keeps its width. */}
      <span class={said && "blank"}>{label}</span>
      <span aria-live="polite">{said}</span>
    </button>
  );
}
