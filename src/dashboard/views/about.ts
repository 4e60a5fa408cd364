// What the page needs to know when it opens.
import type { LocalView } from "./view.ts";

export const about: LocalView<"about"> = {
  isLocal: true,
  answer({ core, options }) {
    const { name, version } = core.info;
    const { revisions } = core.settings;
    const { endpoint, tryIt, actions, history } = options;
    const newest = { modern: revisions.modern?.date, legacy: revisions.legacy?.date };
    return { name, version, revisions: revisions.dates(), newest, endpoint, tryIt, actions, history };
  },
};
