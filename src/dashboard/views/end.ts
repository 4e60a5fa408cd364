// Ends a client: its session, its pipe or its listen requests.
import { clientOfListen } from "./census.ts";
import { clientOf, clientOfListener } from "./clients.ts";
import type { ServedNode } from "./served-node.ts";
import type { SharedView } from "./view.ts";

interface Part {
  /** Whether it was a legacy session, which several nodes may have had. */
  readonly isSession: boolean;
  readonly ended: number;
}

const reason = "Ended in the dashboard";

export const end: SharedView<"end", Part> = {
  async answer(node, { peer }) {
    if (!node.options.actions) return { isSession: false, ended: 0 };
    return (await endSession(node, peer)) ? { isSession: true, ended: 1 } : endOthers(node, peer);
  },
  merge(parts) {
    const isSession = parts.some(({ part }) => part.isSession);
    const ended = parts.reduce((sum, { part }) => sum + part.ended, 0);
    return { ended: isSession ? Math.min(ended, 1) : ended };
  },
};

async function endSession({ endpoint }: ServedNode, peer: string): Promise<boolean> {
  const { sessions } = endpoint.state;
  for (const { session } of sessions.copies) {
    if (clientOf(session.connection).peer !== peer) continue;
    await sessions.end(session, "deleted");
    return true;
  }
  return false;
}

/** Ends listen requests, HTTP+SSE streams and pipes. */
function endOthers({ core, endpoint, looking }: ServedNode, peer: string): Part {
  let ended = 0;
  for (const { connection } of endpoint.state.listens) {
    if (clientOfListen(looking.ask(), connection).peer === peer)
      ended += connection.endSubscriptions().length;
  }
  for (const listener of core.hub.listeners) {
    if (listener.session === undefined || clientOfListener(listener).peer !== peer) continue;
    listener.stream.destroy(reason);
    ended++;
  }
  return { isSession: false, ended };
}
