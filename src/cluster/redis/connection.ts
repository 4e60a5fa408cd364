// The functions of a Redis client that the backplane needs: connections that queue nothing and never reconnect on their own.
import { ConfigurationError } from "../../base/errors.ts";

/** A connection of the backplane. If it fails, it is replaced. */
interface Connection {
  connect(): Promise<unknown>;
  /** Sends a command. In a cluster, `key` selects the server. Rejects at once without a connection. */
  call(key: string, command: readonly string[]): Promise<unknown>;
  /** Calls `listener` when the connection fails, perhaps more than once. */
  onFailure(listener: (error: unknown) => void): void;
  close(): void;
}

/** A connection to one server, also in a cluster, where every server passes every message on. */
export interface Subscriber extends Connection {
  subscribe(channels: readonly string[], receive: (text: string) => void): Promise<unknown>;
}

export interface Commands extends Connection {
  /** Creates another connection, to one of the servers that this one is connected to. */
  subscriber(): Promise<Subscriber>;
}

/** Creates connections with the options of a user's client. They connect later. */
export interface Connector {
  readonly isCluster: boolean;
  create(): Commands;
}

/** The events that clients of both packages emit. */
export interface Emitter {
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** Throws for a client that cannot be used. */
export function refuseConnection(problem: string): never {
  throw new ConfigurationError("INVALID_OPTION", { subject: "redisBackplane", field: "client" }, problem);
}

export const isSubscriber = "is in subscriber mode: pass the client that sends your commands";

/** Milliseconds to wait before the next attempt: doubling up to two seconds, with half of each at random. */
export function backOffMs(attempts: number): number {
  const most = Math.min(2000, 50 * 2 ** attempts);
  return most / 2 + (Math.random() * most) / 2;
}

export function oneOfMethods<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error("The Redis cluster has no master");
  return item;
}
