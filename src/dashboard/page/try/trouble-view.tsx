// An error, with what to do about it.
import type { VNode } from "preact";
import { Json } from "./content.tsx";
import type { Trouble } from "./trouble.ts";

export function TroubleView({ trouble }: { readonly trouble: Trouble }): VNode {
  const { title, message, remedy, data } = trouble;
  return (
    <div class="try-trouble" role="alert">
      <p class="bad">
        <b>{title}</b>
      </p>
      <p>{message}</p>
      {remedy !== undefined && <p class="muted">{remedy}.</p>}
      {data !== undefined && <Json title="What the server added" value={data} />}
    </div>
  );
}
