// The streams to clients: GETs and replies of sessions, listen requests, and HTTP+SSE.
import type { StreamView } from "../../window/index.ts";
import type { StreamRow } from "../answers.ts";
import type { Sampled } from "../sampling/sampling.ts";
import { Finding, type RowsPart, shownRows } from "./finding.ts";
import type { SharedView } from "./view.ts";

export const streams: SharedView<"streams", RowsPart<StreamRow>> = {
  answer(node, question) {
    const finding = new Finding(node, question);
    const { rows, total } = node.window.snapshot("streams", finding.options);
    const { name, sampled } = finding;
    return {
      rows: rows.map((row) => rowOf(row, name, sampled)),
      total,
    };
  },
  merge(parts) {
    const keyOf = ({ client, who, peer, kind, node, id }: StreamRow): string =>
      `${client} ${who} ${peer} ${kind} ${node} ${id}`;
    return {
      rows: shownRows(
        parts.flatMap(({ part }) => part.rows),
        keyOf,
      ),
      total: parts.reduce((sum, { part }) => sum + part.total, 0),
    };
  },
};

function rowOf({ session, ...row }: StreamView, node: string, { samples }: Sampled): StreamRow {
  const { resumes, gaps } = samples.troubles.of(session);
  return { ...row, node, resumes, gaps };
}
