// The open endpoints of each server.
import type { ServerPort } from "../../server/calls/port.ts";
import type { Unsent } from "./edge/unsent.ts";
import type { LegacySse } from "./legacy-sse.ts";
import type { HttpState } from "./state.ts";

/** What is open on an endpoint. */
export interface OpenEndpoint {
  readonly state: HttpState;
  readonly legacySse: LegacySse | undefined;
  readonly unsent: Unsent;
}

const open = new WeakMap<ServerPort, Set<OpenEndpoint>>();
const none: ReadonlySet<OpenEndpoint> = new Set();

export function endpointsOf(server: ServerPort): ReadonlySet<OpenEndpoint> {
  return open.get(server) ?? none;
}

/** Adds an endpoint until you call the returned function. */
export function addEndpoint(server: ServerPort, endpoint: OpenEndpoint): () => void {
  const endpoints = open.get(server) ?? new Set();
  open.set(server, endpoints.add(endpoint));
  return () => void endpoints.delete(endpoint);
}
