// How much of an answer a node sends to another one: NATS takes messages of one megabyte, and sealing makes them a third longer.

/** Bytes of rows, entries or messages in one answer. */
export const maxBusBytes = 600_000;

const utf8 = new TextEncoder();

/** The bytes of a value as JSON. */
export function bytesOf(value: object): number {
  return utf8.encode(JSON.stringify(value)).length;
}
