// The columns that the tables of sessions and of streams share.
import type { SessionRow, StreamRow } from "../../answers.ts";
import type { Column } from "../components/table.tsx";
import { Count, Figures } from "./cells.tsx";

type SharedColumn = Column<SessionRow | StreamRow>;

export const nodeColumn: SharedColumn = {
  title: "Node",
  width: 118,
  show: ({ node }) => <Figures of={node} />,
  sort: ({ node }) => node,
};

export const resumesColumn: SharedColumn = {
  title: "Resumes",
  width: 70,
  isFigure: true,
  show: ({ resumes }) => <Count of={resumes} />,
  sort: ({ resumes }) => resumes,
  hint: "How often the client resumed a stream after a cut, since the dashboard was opened",
};

export const gapsColumn: SharedColumn = {
  title: "Gaps",
  width: 46,
  isFigure: true,
  show: ({ gaps }) => <Count of={gaps} tone="bad" />,
  sort: ({ gaps }) => gaps,
  hint: "Resumes at which messages were missing, since the dashboard was opened",
};
