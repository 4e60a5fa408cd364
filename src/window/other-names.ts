// Names that newcomers try on a window, and what they are here.
import { refuseNames } from "../base/refused-names.ts";

/** Makes these names throw an error that says which member to use. */
export function refuseOtherWindowNames(prototype: object): void {
  refuseNames(prototype, {
    subject: "The window",
    methods: {
      "on once addListener addEventListener subscribe": "observe(observer), and check event.type in it",
      "off removeListener removeEventListener unsubscribe": "the function that observe() returned",
      "sessions clients connections peers": 'snapshot("sessions")',
      streams: 'snapshot("streams")',
      subscriptions: 'snapshot("subscriptions")',
      calls: 'snapshot("calls")',
      tasks: 'snapshot("tasks")',
      tools: 'snapshot("tools")',
      "stats metrics count": "counts() or recent()",
      "use middleware": "server.use(middleware), or around(hook) to look on",
      "kick kill disconnect close": "end(peer)",
    },
  });
}
