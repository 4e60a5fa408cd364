// Errors of the client in words for the person at the page: what happened, and what to do.
import { AuthRequired, HalyardError, RpcRejection } from "halyard/client";

export interface Trouble {
  readonly title: string;
  readonly message: string;
  /** What to do. */
  readonly remedy: string | undefined;
  /** What the server sent along. */
  readonly data?: unknown;
}

/** What to do about an error of the client, by its code. For other errors the message says it. */
const remedies: Readonly<Record<string, readonly [title: string, remedy: string]>> = {
  NEEDS_AUTH: [
    "The endpoint requires credentials",
    "Enter a bearer token of the endpoint, and connect again",
  ],
  NO_COMMON_REVISION: ["The endpoint does not speak this revision", "Choose another revision"],
  TIMEOUT: ["The time is over", "Let the tool report progress, or call it again"],
  CONNECTION_LOST: ["The connection failed", "Check that the server runs"],
  HTTP: [
    "The endpoint answered with something else than MCP",
    "Check its address, and what stands before it",
  ],
  INVALID_RESPONSE: ["The server broke the protocol", "See its message on the wire"],
  TASK_ENDED: ["The task has no result", "Call the tool again"],
};

export function troubleOf(error: unknown): Trouble {
  const message = messageOf(error);
  if (error instanceof RpcRejection) {
    const { code, data } = error;
    return { title: `The server rejected the request (${code})`, message, remedy: undefined, data };
  }
  const known = error instanceof HalyardError ? remedies[error.code] : undefined;
  return { title: known?.[0] ?? "This did not work", message, remedy: known?.[1] };
}

function messageOf(error: unknown): string {
  // The error's own message names options of a program, so it is replaced.
  if (error instanceof AuthRequired) return `${error.url} answered ${error.status}`;
  return error instanceof Error ? error.message : String(error);
}
