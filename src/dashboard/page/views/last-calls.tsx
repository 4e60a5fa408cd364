// The last calls, each with a link to its page. They stand still while the pointer is on them.
import type { VNode } from "preact";
import type { CallRow } from "../../answers.ts";
import { hrefOf } from "../base/router.ts";
import { Table } from "../components/table.tsx";
import { callColumns, openCall } from "./call-columns.tsx";

/** There is little room, and all of them have just ended. */
const columns = callColumns.filter(({ title }) => title !== "Ended");

const newestFirst = { question: "", isGiven: true };

export function LastCalls({ calls }: { readonly calls: readonly CallRow[] }): VNode {
  return (
    <section class="last-calls">
      <h2>
        Last calls <a href={hrefOf("calls")}>all that are kept</a>
      </h2>
      <Table
        label="Last calls"
        columns={columns}
        rows={calls}
        keyOf={({ id }) => id}
        onOpen={openCall}
        standing={newestFirst}
        empty={
          <p class="none">No call has ended since the dashboard was opened. Call a tool to see it here.</p>
        }
      />
    </section>
  );
}
