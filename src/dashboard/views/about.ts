// What the page needs to know when it opens.
import type { LocalView } from "./view.ts";

export const about: LocalView<"about"> = {
  isLocal: true,
  answer({ window, options }) {
    const { endpoint, tryIt, actions, history } = options;
    return { ...window.server, endpoint, tryIt, actions, history };
  },
};
