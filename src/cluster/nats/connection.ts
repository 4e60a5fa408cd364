// The part of a NATS connection that Halyard uses, and the check that an object is one.
import { ConfigurationError } from "../../base/errors.ts";

/** A connection of `@nats-io/transport-node`, or of another package with the same interface. */
export interface NatsConnection {
  readonly info?: { readonly version: string; readonly max_payload: number } | undefined;
  /** Halyard passes `headers` too, as an object that has the `encode` which the client calls. */
  request(subject: string, payload: Uint8Array, options: { readonly timeout: number }): Promise<NatsMessage>;
  publish(subject: string, payload: Uint8Array, options?: { readonly reply: string }): void;
  subscribe(
    subject: string,
    options: { readonly callback: (error: unknown, message: NatsMessage) => void },
  ): NatsSubscription;
  status(): AsyncIterable<{ readonly type: string }>;
  closed(): Promise<unknown>;
  isClosed(): boolean;
  isDraining(): boolean;
}

/** A message that a NATS connection delivers. */
export interface NatsMessage {
  readonly data: Uint8Array;
  readonly reply?: string | undefined;
  readonly headers?: { readonly code: number; get(name: string): string } | undefined;
}

/** A subscription of a NATS connection. */
export interface NatsSubscription {
  unsubscribe(): void;
}

const methods = ["request", "publish", "subscribe", "status", "closed", "isClosed", "isDraining"] as const;

/** Reports a connection or server that cannot be used. */
export function unusable(problem: string, cause?: unknown): ConfigurationError {
  const where = { subject: "natsBackplane", field: "connection" };
  return new ConfigurationError("INVALID_OPTION", where, problem, { cause });
}

/** Throws unless it is a NATS connection that can be used. */
export function checkConnection(connection: NatsConnection): void {
  const given = connection as Partial<NatsConnection> | null | undefined;
  const missing = methods.find((name) => typeof given?.[name] !== "function");
  if (missing !== undefined) {
    const isPromise = typeof (given as { then?: unknown } | null | undefined)?.then === "function";
    const advice = isPromise
      ? "await connect(…) first"
      : "pass what connect(…) of @nats-io/transport-node returns";
    throw unusable(`must be a NATS connection, and has no ${missing}(): ${advice}`);
  }
  if (connection.isClosed()) throw unusable("is closed: pass an open one, and close it after the server");
  if (connection.isDraining()) throw unusable("is draining: pass an open one, and drain it after the server");
}

/** The problem of a connection whose own options end it although the server comes back; undefined if there is none. */
export function reconnectProblem(connection: NatsConnection): string | undefined {
  const { options } = connection as { readonly options?: Readonly<Record<string, unknown>> };
  const attempts = options?.["maxReconnectAttempts"];
  if (options?.["reconnect"] === false)
    return "The NATS connection does not reconnect: connect with `reconnect: true`";
  if (typeof attempts !== "number" || attempts < 0) return undefined;
  return `The NATS connection gives up after ${attempts} attempts to reconnect: connect with \`maxReconnectAttempts: -1\``;
}
