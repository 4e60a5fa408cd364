// Which kinds of answer a client takes. A header that says nothing, or everything, allows both.

/** What the `Accept` header of a POST allows. */
export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

const both: Accepted = { json: true, events: true };

/** Reads an `Accept` header; parameters such as quality are left aside. */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined || header.trim() === "") return both;
  // What nearly every client sends, as the protocol demands.
  if (header === "application/json, text/event-stream") return both;
  const types = new Set(header.split(",").map((part) => part.split(";", 1)[0]?.trim().toLowerCase()));
  const admits = (type: string, group: string): boolean =>
    types.has(type) || types.has(group) || types.has("*/*");
  return { json: admits("application/json", "application/*"), events: admits("text/event-stream", "text/*") };
}
