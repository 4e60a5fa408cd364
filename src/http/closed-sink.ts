// A stream that nobody can read: its client had gone, or somebody else had answered, before it was opened.
import type { EventSink } from "./edge/request.ts";

export const closedSink: EventSink = {
  congested: false,
  write: () => true,
  watch: () => {},
  onDrain: () => {},
  onClose: (callback) => queueMicrotask(callback),
  end: () => {},
  destroy: () => {},
};
