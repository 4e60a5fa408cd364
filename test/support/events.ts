// What a server told of itself.
import type { ServerEvent } from "halyard";

type OfType<T extends ServerEvent["type"]> = Extract<ServerEvent, { type: T }>;

export function ofType<T extends ServerEvent["type"]>(events: readonly ServerEvent[], type: T): OfType<T>[] {
  return events.filter((event): event is OfType<T> => event.type === type);
}
