// Ends a client: its session, its pipe or its listen requests.
import type { PeerEnd } from "../../window/index.ts";
import type { SharedView } from "./view.ts";

export const end: SharedView<"end", PeerEnd> = {
  answer({ options, window }, { peer }) {
    return options.actions ? window.end(peer) : { sessions: 0, streams: 0 };
  },
  merge(parts) {
    const sum = (of: keyof PeerEnd): number => parts.reduce((all, { part }) => all + part[of], 0);
    // Several nodes may have had the session.
    return { ended: Math.min(sum("sessions"), 1) || sum("streams") };
  },
};
