// The state of a session as the engine has it, compared with that of its connection here.
import type { LogLevel } from "../../protocol/model.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import type { Listener } from "../../server/push/listener.ts";
import { topicOf } from "../../server/push/topic.ts";
import type { Connection } from "../../server/context/connection.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import {
  applyChange,
  changeBetween,
  firstState,
  type SessionChange,
  type SessionRecord,
  type SessionState,
} from "../../server/session/record.ts";

export class SavedState {
  readonly #connection: Connection;
  readonly #server: ServerPort;
  #state: SessionState = firstState;
  #version = 0;
  #opener: string;
  #isPending = false;
  /** The values of the connection when {@link SavedState.pending} last looked at them. */
  #initialized = false;
  #logLevel: LogLevel | undefined;
  #topicChanges: number | undefined;

  constructor(connection: Connection, server: ServerPort) {
    this.#connection = connection;
    this.#server = server;
    this.#opener = connection.caller;
  }

  get version(): number {
    return this.#version;
  }

  get opener(): string {
    return this.#opener;
  }

  get hasChanged(): boolean {
    const { initialized, logLevel, listener } = this.#connection;
    return (
      initialized !== this.#initialized ||
      logLevel !== this.#logLevel ||
      listener?.topicChanges !== this.#topicChanges
    );
  }

  get isPending(): boolean {
    return this.#isPending;
  }

  /** The record with all changes. */
  record(): SessionRecord {
    const { session = "", principal, revision, clientTexts, changes } = this.#connection;
    return {
      id: session,
      version: this.#version + 1,
      principal,
      opener: principal ? undefined : this.#opener,
      revision: revision?.date ?? "",
      changes,
      ...clientTexts,
      ...stateOf(this.#connection),
    };
  }

  pending(): SessionChange | undefined {
    const { initialized, logLevel, listener } = this.#connection;
    this.#initialized = initialized;
    this.#logLevel = logLevel;
    this.#topicChanges = listener?.topicChanges;
    const change = changeBetween(this.#state, stateOf(this.#connection));
    this.#isPending = change !== undefined;
    return change;
  }

  settle(change: SessionChange): void {
    this.#state = applyChange(this.#state, change);
    this.pending();
  }

  follow(change: SessionChange): void {
    this.adopt({ ...applyChange(this.#state, change), version: this.#version + 1 });
  }

  missing({ subscriptions }: SessionState): readonly string[] {
    const { listener } = this.#connection;
    return subscriptions.filter((uri) => !listener?.topics.has(topicOf(resourceUpdated, uri)));
  }

  adopt(record: SessionState & Pick<SessionRecord, "version" | "opener">): void {
    const connection = this.#connection;
    const { version, initialized, logLevel, subscriptions } = record;
    // If the engine has lost its last changes, what this node knows of them is pending again.
    const change = version < this.#version ? undefined : changeBetween(this.#state, record);
    this.#state = { initialized, logLevel, subscriptions };
    this.#version = version;
    this.#opener = record.opener ?? this.#opener;
    if (change !== undefined) {
      if (change.initialized) connection.initialized = true;
      if (change.logLevel) connection.logLevel = change.logLevel;
      this.#server.subscribe(connection, change.added, change.removed);
    }
    this.pending();
  }
}

/** What the client of a connection has set. */
function stateOf({ initialized, logLevel, listener }: Connection): SessionState {
  const subscriptions = listener && listener.addedTopics > 0 ? subscribedIn(listener) : noSubscriptions;
  return { initialized, logLevel, subscriptions };
}

const noSubscriptions: readonly string[] = [];

function subscribedIn({ topics }: Listener): readonly string[] {
  const prefix = topicOf(resourceUpdated, "");
  return [...topics].filter((topic) => topic.startsWith(prefix)).map((topic) => topic.slice(prefix.length));
}
