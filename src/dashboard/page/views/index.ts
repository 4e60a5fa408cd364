// The views of the page, in the order of the navigation.
import type { ComponentType } from "preact";
import type { About } from "../../answers.ts";
import { TryIt } from "../try/try-it.tsx";
import { Call } from "./call.tsx";
import { Calls } from "./calls.tsx";
import { Now } from "./now.tsx";
import { Sessions } from "./sessions.tsx";
import { Streams } from "./streams.tsx";
import { Timeline } from "./timeline.tsx";
import { Tools } from "./tools.tsx";
import { Topics } from "./topics.tsx";

export interface ViewProps {
  /** What stands behind the path in the address: `#/session/<peer>` has the peer here. */
  readonly rest: readonly string[];
}

export interface View {
  /** The first part of its address, without `#/`. */
  readonly path: string;
  readonly title: string;
  /** Opens it after `g`; a view without is opened by a link from another one. */
  readonly key?: string;
  /** The lines of its icon, of 16 by 16. */
  readonly icon?: string;
  readonly component: ComponentType<ViewProps>;
  /** The view to which Escape returns, and which the navigation shows as open. */
  readonly parent?: string;
  /** Whether the server offers it; every one does if this is left out. */
  readonly isOffered?: (about: About) => boolean;
}

export const views: readonly View[] = [
  { path: "now", title: "Now", key: "n", component: Now, icon: "M1 9h3l2-6 3 10 2.5-7 1 3H15" },
  {
    path: "calls",
    title: "Calls",
    key: "c",
    component: Calls,
    icon: "M1.5 5.5h10m-3-3 3 3-3 3m6 2h-10m3-3-3 3 3 3",
  },
  { path: "call", title: "Call", component: Call, parent: "calls" },
  {
    path: "sessions",
    title: "Sessions",
    key: "s",
    component: Sessions,
    icon: "M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8zm-5.5 5.5a5.5 4 0 0 1 11 0",
  },
  { path: "session", title: "Timeline", component: Timeline, parent: "sessions" },
  {
    path: "streams",
    title: "Streams",
    key: "r",
    component: Streams,
    icon: "M1.5 4.5c3-3 5 3 8 0s4-1 5 0m-13 4c3-3 5 3 8 0s4-1 5 0m-13 4c3-3 5 3 8 0s4-1 5 0",
  },
  {
    path: "tools",
    title: "Tools",
    key: "t",
    component: Tools,
    icon: "M2.5 13.5v-5m3.67 5v-11m3.67 11V6m3.66 7.5v-9",
  },
  {
    path: "topics",
    title: "Topics",
    key: "o",
    component: Topics,
    icon: "M3 2.5 2 13.5m5.5-11-1 11m5.5-11-1 11M1.5 5.5h12m-12.5 5h12",
  },
  {
    path: "try",
    title: "Try it",
    key: "y",
    component: TryIt,
    isOffered: ({ tryIt }) => tryIt,
    icon: "M4.5 2.5v11l9-5.5z",
  },
];
