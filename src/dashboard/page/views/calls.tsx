// The calls that are kept: the last ones, and the last ones that failed. A search finds one by the id of its error.
import type { VNode } from "preact";
import type { CallRow } from "../../answers.ts";
import { Empty } from "../components/empty.tsx";
import type { Column } from "../components/table.tsx";
import { callColumns, openCall } from "./call-columns.tsx";
import { Figures } from "./cells.tsx";
import { Listing } from "./listing.tsx";

const nodeColumn: Column<CallRow> = { title: "Node", width: 118, show: ({ node }) => <Figures of={node} /> };
const ofCluster = [...callColumns, nodeColumn];

export function Calls(): VNode {
  return (
    <Listing
      name="calls"
      label="Calls"
      nouns={["call", "calls"]}
      everyMs={1_000}
      hint="Name, client, error or error id"
      columns={(isCluster) => (isCluster ? ofCluster : callColumns)}
      keyOf={({ id }) => id}
      isGiven
      onOpen={openCall}
      note={() => (
        <span class="note">The last calls and the last failures since the dashboard was opened</span>
      )}
      empty={
        <Empty title="No call has ended since the dashboard was opened">
          <p>Call a tool: the call, its input and its result are kept here for a while.</p>
        </Empty>
      }
    />
  );
}
