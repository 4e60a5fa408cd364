// Server-sent events: one message as the text of one event. Knows nothing of MCP.

/** An event with `data`, which must have no line breaks. With an id, the client can resume after it. */
export function encodeEvent(data: string, id?: string): string {
  return id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`;
}

/** An event of another type than `message`. */
export function encodeTypedEvent(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}

/** An event without data: the id from which the client can resume, and how long it should wait before it reconnects. */
export function encodePriming(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

/** How long the client should wait before it reconnects. */
export function encodeRetry(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}

/** A comment that keeps the connection open; clients ignore it. */
export const keepAliveComment = ": keep-alive\n\n";
