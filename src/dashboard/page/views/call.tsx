// One call: who made it, how it ended, why it failed, and its input and result.
import type { VNode } from "preact";
import type { CallDetails, CallRow, KeptText } from "../../answers.ts";
import { formatCount, formatLatency, formatTime } from "../base/format.ts";
import { usePolled } from "../base/polling.ts";
import { hrefOf } from "../base/router.ts";
import { Copied } from "../components/copied.tsx";
import { Empty } from "../components/empty.tsx";
import { wantedOf } from "../timeline/wanted.ts";
import { Outcome, titleOf } from "./call-columns.tsx";

const everyMs = 2_000;

/** `rest` has the id of the call. */
export function Call({ rest: [id = ""] }: { readonly rest: readonly string[] }): VNode {
  const { answer } = usePolled("call", { id }, everyMs);
  if (answer === undefined) return <p class="muted">Asking…</p>;
  const { call, input, output, thrown } = answer;
  if (call === undefined)
    return (
      <Empty title="This call is not kept any more">
        <a href={hrefOf("calls")}>Show the calls that are kept</a>
      </Empty>
    );
  return (
    <article class="call-page">
      <h2>{titleOf(call)}</h2>
      <Facts call={call} details={answer} />
      <Failure call={call} thrown={thrown} />
      <Text title="Input" kept={input} />
      <Text title={call.outcome === "error" ? "What the client got" : "Result"} kept={output} />
    </article>
  );
}

function Facts({ call, details }: { readonly call: CallRow; readonly details: CallDetails }): VNode {
  const { peer, client, revision, durationMs, outcome, agoMs, node, method, name } = call;
  const endedAt = Date.now() - agoMs;
  const timeline = hrefOf("session", peer, wantedOf({ method, name, endedAt }));
  const isRunning = outcome === "working";
  const facts: readonly (readonly [string, VNode | string | undefined])[] = [
    ["Outcome", <Outcome call={call} />],
    [
      details.task === undefined ? "Took" : "Task took",
      isRunning ? "still running" : formatLatency(durationMs),
    ],
    ["Ended", isRunning ? undefined : formatTime(endedAt, true)],
    ["Task", details.task],
    ["Client", <a href={timeline}>{client ?? "unnamed client"}: show it in its timeline</a>],
    ["Revision", revision],
    ["Node", details.nodes.length > 1 ? node : undefined],
  ];
  return (
    <dl class="facts">
      {facts.map(
        ([title, value]) =>
          value && (
            <div key={title}>
              <dt>{title}</dt>
              <dd class={typeof value === "string" ? "figure" : undefined}>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

interface FailureProps {
  readonly call: CallRow;
  readonly thrown: string | undefined;
}

function Failure({ call: { reason, errorId }, thrown }: FailureProps): VNode | null {
  if (reason === undefined && errorId === undefined) return null;
  return (
    <section aria-label="Why it failed">
      <h3>Why it failed</h3>
      <p class="bad">{reason}</p>
      {errorId !== undefined && (
        <>
          <p class="muted">The client got this error id, and the log has the error under it:</p>
          <Copied text={errorId} label="Copy the error id" />
        </>
      )}
      {thrown !== undefined && <pre>{thrown}</pre>}
    </section>
  );
}

function Text({ title, kept }: { readonly title: string; readonly kept: KeptText | undefined }): VNode {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {kept === undefined ? (
        <p class="muted">It was not kept: there were too many calls, or it was too large.</p>
      ) : (
        <>
          <pre>{kept.text}</pre>
          {kept.text.length < kept.length && (
            <p class="muted">The first of {formatCount(kept.length)} characters.</p>
          )}
        </>
      )}
    </section>
  );
}
