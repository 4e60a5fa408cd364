// The bar above a view: its title, the nodes of the cluster, and whether the page is live.
import type { VNode } from "preact";
import type { NodeRow } from "../answers.ts";
import { isPaused, seenNodes, trouble } from "./base/polling.ts";
import { nextTheme, type Theme, theme } from "./base/theme.ts";

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
      <ThemeButton />
    </header>
  );
}

/** A circle that is half, not or wholly filled. */
const themeIcons: Readonly<Record<Theme, string>> = {
  system: "M8 2.5v11a5.5 5.5 0 0 0 0-11z",
  light: "",
  dark: "M8 2.5a5.5 5.5 0 0 0 0 11 5.5 5.5 0 0 0 0-11z",
};

function ThemeButton(): VNode {
  const chosen = theme.use();
  return (
    <button
      type="button"
      class="quiet theme"
      aria-label={`Theme: ${chosen}`}
      title={`Theme: ${chosen}`}
      onClick={nextTheme}
    >
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" />
        <path d={themeIcons[chosen]} fill="currentcolor" />
      </svg>
    </button>
  );
}

function NodeDot({ node: { name, state, isSelf } }: { readonly node: NodeRow }): VNode {
  return (
    <li class={`node-dot ${state}`} title={`${name}: ${state}${isSelf ? " (this one answers you)" : ""}`}>
      <span class="hidden">{state}</span>
      <span class="node-name">{name}</span>
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
