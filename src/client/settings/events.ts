// The states of a client, the events that its `observe` receives, and how the client reports them.

/** A request has ended, after all its attempts and rounds. */
export interface ClientRequestEvent {
  readonly type: "request";
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly name?: string | undefined;
  readonly durationMs: number;
  readonly outcome: "ok" | "error" | "cancelled" | "cached";
  /** How often it was sent. */
  readonly attempts: number;
  readonly error?: unknown;
}

/** A request is sent again: its connection was lost, or the server refused it for now. */
export interface RetryEvent {
  readonly type: "retry";
  readonly method: string;
  readonly attempt: number;
  readonly waitMs: number;
  readonly reason: string;
}

/** The state of the client changed. */
export interface StateEvent {
  readonly type: "state";
  readonly state: ClientState;
}

/** A long-lived stream (a listen stream, or the GET stream of a session) opened, was lost, or is given up. */
export interface StreamEvent {
  readonly type: "stream";
  readonly stream: string;
  readonly state: "opened" | "resumed" | "lost" | "given-up";
  readonly reason?: string | undefined;
}

/** A structured result does not match the output schema of its tool. The call still returns the result. */
export interface MismatchEvent {
  readonly type: "mismatch";
  readonly tool: string;
  readonly problem: string;
}

/**
 * The client ignores something that the server sent, such as a response to no request, or a tool whose header annotations are
 * invalid.
 */
export interface IgnoredEvent {
  readonly type: "ignored";
  readonly reason: string;
}

/** The server sent a message that is not part of the protocol and has no handler: pass `onNotification` or `onRequest`. */
export interface UnhandledEvent {
  readonly type: "unhandled";
  readonly message: "notification" | "request";
  readonly method: string;
}

/** A handler has answered a question of the server, or failed to. */
export interface QuestionEvent {
  readonly type: "question";
  readonly method: string;
  readonly durationMs: number;
  readonly outcome: "ok" | "error" | "cancelled";
  /** The exception of the handler, or the problem of the question. A legacy server sees neither. */
  readonly error?: unknown;
}

/** A line that a stdio server wrote to its standard error. */
export interface StderrEvent {
  readonly type: "stderr";
  readonly line: string;
}

/** What `observe` receives. */
export type ClientEvent =
  | ClientRequestEvent
  | RetryEvent
  | StateEvent
  | StreamEvent
  | MismatchEvent
  | QuestionEvent
  | IgnoredEvent
  | UnhandledEvent
  | StderrEvent;

/**
 * Wraps an observer of events or messages, so that its exceptions do not end calls. They are not reported, because the observer
 * itself would receive the report.
 */
export function guarded<Seen>(
  observe: (seen: Seen) => void,
  thrown: (error: unknown) => void = () => {},
): (seen: Seen) => void {
  return (seen) => {
    try {
      observe(seen);
    } catch (error) {
      thrown(error);
    }
  };
}

type Observe = ((event: IgnoredEvent) => void) | undefined;

/** Reports that something is ignored: to the observer, or on the console if there is none. */
export function tellIgnored(observe: Observe, reason: string): void {
  if (observe) observe({ type: "ignored", reason });
  else console.warn(reason);
}

const told = new WeakSet();

/** Reports an exception of the user's function `own`: to the observer, or on the console, there only once for each function. */
export function tellThrown(observe: Observe, own: object, reason: string): void {
  if (!observe && told.has(own)) return;
  told.add(own);
  tellIgnored(observe, reason);
}

/** The state of a client: in `ready`, calls go straight to the server. */
export type StateName = "connecting" | "ready" | "reconnecting" | "needs-auth" | "closed";

/** The state of a client, and the reason for it. */
export interface ClientState {
  readonly name: StateName;
  /** Why the client is in this state, for a person to read. */
  readonly reason: string;
  /** The address that a person must visit to sign in, while the client waits for it in `needs-auth`. */
  readonly url?: string;
  /** The error that led to this state. */
  readonly error?: unknown;
}
