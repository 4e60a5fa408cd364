// The buttons of a timeline: live or paused, zoom, export, link, and the end of the session.
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useAbout } from "../base/about.ts";
import { ask } from "../base/api.ts";
import { useKeys } from "../base/keyboard.ts";
import { Dialog } from "../components/dialog.tsx";
import type { Span } from "./layout.ts";
import type { TimeWindow } from "./window.ts";

export interface ActionsProps {
  readonly peer: string;
  readonly window: TimeWindow;
  /** From the first entry to the last. */
  readonly all: Span;
  /** Whether it is a session that can be ended. */
  readonly mayEnd: boolean;
}

export function Actions({ peer, window, all, mayEnd }: ActionsProps): VNode {
  const { isLive, setLive, zoom, fit, pan } = window;
  const { actions } = useAbout();
  const [told, setTold] = useState("");
  const [isEnding, setEnding] = useState(false);
  const tell = (work: Promise<string>): void =>
    void work.then(setTold, (error: unknown) =>
      setTold(error instanceof Error ? error.message : String(error)),
    );
  useKeys([
    { keys: "+", what: "Zoom in", run: () => zoom(0.5) },
    { keys: "-", what: "Zoom out", run: () => zoom(2) },
    { keys: "0", what: "Show everything", run: () => fit(all) },
    { keys: "l", what: "Live or paused", run: () => setLive(!isLive) },
    { keys: "[", what: "Earlier", run: () => pan(-0.25) },
    { keys: "]", what: "Later", run: () => pan(0.25) },
  ]);
  return (
    <div class="timeline-actions">
      <button type="button" class={isLive ? "" : "primary"} onClick={() => setLive(!isLive)}>
        {isLive ? "Pause" : "Live"}
      </button>
      <span class="button-group">
        <button type="button" aria-label="Zoom out" onClick={() => zoom(2)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" onClick={() => fit(all)}>
          Fit
        </button>
      </span>
      <button type="button" onClick={() => tell(download(peer))}>
        Export
      </button>
      <button type="button" onClick={() => tell(copyLink())}>
        Copy link
      </button>
      {actions && mayEnd && (
        <button type="button" class="danger" onClick={() => setEnding(true)}>
          End session
        </button>
      )}
      <span class="muted" aria-live="polite">
        {told}
      </span>
      {isEnding && <EndDialog onClose={() => setEnding(false)} onEnd={() => tell(end(peer))} />}
    </div>
  );
}

interface EndDialogProps {
  readonly onClose: () => void;
  readonly onEnd: () => void;
}

function EndDialog({ onClose, onEnd }: EndDialogProps): VNode {
  const endAndClose = (): void => {
    onClose();
    onEnd();
  };
  return (
    <Dialog title="End this session?" onClose={onClose}>
      <p>The server forgets the session. Its client must initialize again.</p>
      <p class="dialog-actions">
        <button type="button" class="primary" onClick={endAndClose}>
          End it
        </button>
      </p>
    </Dialog>
  );
}

async function end(peer: string): Promise<string> {
  const { ended } = await ask("end", { peer });
  return ended > 0 ? "Ended" : "It has ended already";
}

/** Downloads everything that was heard, as lines of JSON that `halyard/testing` replays. */
async function download(peer: string): Promise<string> {
  const { lines, dropped } = await ask("recording", { peer });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const url = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  const link = Object.assign(document.createElement("a"), {
    href: url,
    download: `recording-${peer}.ndjson`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return dropped === 0
    ? `${lines.length} messages`
    : `${lines.length} messages; ${dropped} earlier ones were dropped`;
}

async function copyLink(): Promise<string> {
  await navigator.clipboard.writeText(location.href);
  return "Copied";
}
