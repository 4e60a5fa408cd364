// The calls that are kept, and one of them with its input and its result.
import { maxRows } from "../answers.ts";
import type { CallPart, EndedCall } from "../sampling/kept-calls.ts";
import { searchedText } from "../sampling/texts.ts";
import { Finding, type RowsPart } from "./finding.ts";
import type { SharedView } from "./view.ts";

export const calls: SharedView<"calls", RowsPart<EndedCall>> = {
  answer(node, question) {
    const finding = new Finding(node, question);
    const rows = finding.sampled.samples.calls
      .rows(finding.now)
      .filter(({ method, name, client, reason, errorId }) =>
        finding.matches(searchedText([method, name, client, reason, errorId])),
      );
    return { rows, total: rows.length };
  },
  merge(parts) {
    const rows = parts.flatMap(({ node, part }) => part.rows.map((row) => ({ ...row, node })));
    rows.sort((one, other) => one.agoMs - other.agoMs);
    return { rows: rows.slice(0, maxRows), total: rows.length };
  },
};

interface Found {
  readonly found: CallPart | undefined;
}

export const call: SharedView<"call", Found> = {
  answer({ sampling }, { id }) {
    return { found: sampling.ask().samples.calls.find(id, performance.now()) };
  },
  merge(parts) {
    const there = parts.find(({ part }) => part.found !== undefined);
    const { call: row, ...details } = there?.part.found ?? nothing;
    return { ...details, call: there && row && { ...row, node: there.node } };
  },
};

const nothing = { call: undefined, input: undefined, output: undefined, thrown: undefined, task: undefined };
