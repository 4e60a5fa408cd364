// A text to copy, such as a command: a click on the button puts it on the clipboard.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

const shownMs = 1_500;

export function Copied({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <div class="copied">
      <code>{text}</code>
      <button
        type="button"
        aria-label={label}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        <span aria-live="polite">{isCopied ? "Copied" : "Copy"}</span>
      </button>
    </div>
  );
}
