// The sessions that are read in detail: one if its timeline is open, all if there is a search, else those behind and those used
// last.
import type { HttpSession } from "../../transports/http/session.ts";
import type { Copy } from "../../server/session/copies.ts";
import { maxRows } from "../answers.ts";
import { clientOf } from "./clients.ts";
import type { Finding } from "./finding.ts";

export function* chosenCopies(finding: Finding<unknown>): Iterable<Copy<HttpSession>> {
  const { endpoint, census } = finding.node;
  const { sessions } = endpoint.state;
  if (finding.peer !== undefined) {
    const copy = finding.node.sought.find(finding.peer);
    if (copy !== undefined) yield copy;
    return;
  }
  if (finding.isSearch) {
    for (const copy of sessions.copies)
      if (finding.matches(clientOf(copy.session.connection).text)) yield copy;
    return;
  }
  const { behind } = census.visited;
  // A session that has ended meanwhile is left out.
  for (const copy of behind) if (sessions.peek(copy.session.id) === copy.session) yield copy;
  let older = sessions.size - maxRows;
  for (const copy of sessions.copies) if (older-- <= 0 && !behind.has(copy)) yield copy;
}
