// Shows a call as code, to be copied.
import type { VNode } from "preact";
import { Dialog } from "../components/dialog.tsx";
import { type Action, commandOf, programOf, type Target } from "./code.ts";
import { CopyButton } from "./copy-button.tsx";

export interface CodeDialogProps {
  readonly action: Action;
  readonly target: Target;
  /** Whether a request of the revision stands alone, so that a command can send it. */
  readonly isModern: boolean;
  readonly onClose: () => void;
}

export function CodeDialog({ action, target, isModern, onClose }: CodeDialogProps): VNode {
  return (
    <Dialog title="Copy as code" onClose={onClose}>
      <Code title="TypeScript" text={programOf(action, target)} />
      {isModern ? (
        <Code title="curl" text={commandOf(action, target)} />
      ) : (
        <p class="hint">As curl: choose a revision without sessions, in which one request is enough.</p>
      )}
    </Dialog>
  );
}

function Code({ title, text }: { readonly title: string; readonly text: string }): VNode {
  return (
    <section class="code-block">
      <header>
        <h3>{title}</h3>
        <CopyButton label={`Copy ${title}`} text={() => text} />
      </header>
      <pre class="text" tabIndex={0} role="region" aria-label={title}>
        {text}
      </pre>
    </section>
  );
}
