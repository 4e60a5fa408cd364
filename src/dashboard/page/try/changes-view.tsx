// The changes that the server announced, newest first, each with a button to read again.
import type { Change } from "halyard/client";
import type { VNode } from "preact";
import { formatTime } from "../base/format.ts";
import { go } from "../base/router.ts";
import { Badge } from "../components/badge.tsx";
import { Empty } from "../components/empty.tsx";
import { changes, subscriptions, toggleSubscription } from "./changes.ts";
import { connection } from "./connection.ts";
import { unlisted } from "./entries.ts";
import { start } from "./runs.ts";
import { TroubleView } from "./trouble-view.tsx";

export function ChangesView(): VNode {
  const rows = changes.use();
  const { uris, trouble } = subscriptions.use();
  const now = connection.use();
  const client = now.phase === "open" ? now.client : undefined;
  const readAgain = (uri: string): void => {
    go("try", uri, "resource");
    if (client) void start(client, unlisted(uri), { values: {}, uri });
  };
  return (
    <>
      {trouble && <TroubleView trouble={trouble} />}
      {uris.length > 0 && (
        <ul class="subscribed" aria-label="Subscriptions">
          {uris.map((uri) => (
            <li key={uri}>
              <code>{uri}</code>
              <button
                type="button"
                class="quiet"
                aria-label={`Unsubscribe from ${uri}`}
                onClick={() => client && void toggleSubscription(client, uri)}
              >
                Unsubscribe
              </button>
            </li>
          ))}
        </ul>
      )}
      {rows.length === 0 ? (
        <Empty title="No changes yet">
          <p>
            {uris.length > 0
              ? "Change what you are subscribed to: each change appears here."
              : "Open a resource and subscribe to it. Changes of the catalogue appear here by themselves."}
          </p>
        </Empty>
      ) : (
        <ol class="changes" aria-label="Changes" aria-live="polite">
          {rows.map(({ number, at, change }) => (
            <li key={number}>
              <time class="figure muted">{formatTime(at, true)}</time>
              <span class="change">{nameOf(change)}</span>
              {change.cause === "gap" && <Badge tone="warn">may have missed some</Badge>}
              {change.uri !== undefined && (
                <button type="button" onClick={() => readAgain(change.uri ?? "")}>
                  Read again
                </button>
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

const names: Readonly<Record<Change["kind"], string>> = {
  tools: "The list of tools",
  prompts: "The list of prompts",
  resourceList: "The list of resources",
  resource: "A resource",
};

function nameOf({ kind, uri }: Change): string {
  return uri ?? names[kind];
}
