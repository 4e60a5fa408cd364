// The bar above a view: its title, the nodes of the cluster, and whether the page is live.
import type { VNode } from "preact";
import type { NodeRow } from "../answers.ts";
import { isPaused, seenNodes, trouble } from "./base/polling.ts";

export function TopBar({ title }: { readonly title: string }): VNode {
  const nodes = seenNodes.use();
  return (
    <header class="top-bar">
      <h1>{title}</h1>
      {nodes.length > 1 && (
        <ul class="node-strip" aria-label="Nodes">
          {nodes.map((node) => (
            <NodeDot key={node.id} node={node} />
          ))}
        </ul>
      )}
      <Liveness />
    </header>
  );
}

function NodeDot({ node: { name, state, isSelf } }: { readonly node: NodeRow }): VNode {
  return (
    <li class={`node-dot ${state}`} title={`${name}: ${state}${isSelf ? " (this one answers you)" : ""}`}>
      <span class="hidden">{state}</span>
      {name}
    </li>
  );
}

function Liveness(): VNode {
  const paused = isPaused.use();
  const error = trouble.use();
  return (
    <div class="liveness">
      {error && (
        <span class="trouble" role="alert" title={error.message}>
          {error.message}
        </span>
      )}
      <button
        type="button"
        class={`live ${paused ? "paused" : error ? "cut" : ""}`}
        aria-pressed={paused}
        onClick={() => isPaused.set(!paused)}
      >
        {paused ? "Paused" : error ? "Trying again" : "Live"}
      </button>
    </div>
  );
}
