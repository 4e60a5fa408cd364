// The contract of sessions, streams and tasks: every test of this folder runs once for each engine of this table.
import { type Backplane, McpServer, type ServerOptions } from "halyard";
import type { HttpOptions } from "halyard/node";
import { describe, expect } from "vitest";
import { engineRows, onEngine } from "../cluster/backplanes.ts";
import type { EventReply } from "../support/event-reply.ts";
import { recordingLogger } from "../support/log.ts";
import { logDataOf, serve, type Served, SessionClient, type SessionOptions } from "../support/sessions.ts";
import { until } from "../support/turns.ts";

/** What differs on purpose. Everything else is the same for all engines. */
interface Differences {
  /** Progress and log messages of a call are replayed: keeping them costs a process alone only memory, but other engines an operation each. */
  readonly replaysLogs: boolean;
  /** A question needs an open stream: only a process alone knows that no other node has one. */
  readonly asksOpenStreamsOnly: boolean;
  /** Past its limit, a principal loses the session that it used least recently. Nodes do not tell each other of each use: its oldest one ends. */
  readonly endsLeastRecentlyUsed: boolean;
}

const alone: Differences = { replaysLogs: true, asksOpenStreamsOnly: true, endsLeastRecentlyUsed: true };
const cluster: Differences = { replaysLogs: false, asksOpenStreamsOnly: false, endsLeastRecentlyUsed: false };

/** A column: one process on one engine. */
export interface Column extends Differences {
  readonly name: string;
  /** Undefined for a process alone. */
  readonly backplane: Backplane | undefined;
}

/** Describes the tests of `body` once for each column. */
export function contract(title: string, body: (column: Column) => void): void {
  describe(`${title} · alone`, () => body({ name: "alone", ...alone, backplane: undefined }));
  describe.each(engineRows)(`${title} · $name`, (row) => {
    const engine = onEngine(row);
    body({
      name: row.name,
      ...cluster,
      get backplane() {
        return engine.backplane;
      },
    });
  });
}

/** The options of a server of that column. */
export function optionsOn({ backplane }: Column, options: ServerOptions = {}): ServerOptions {
  return { logger: recordingLogger(), ...options, ...(backplane && { backplane }) };
}

export interface PlaceOptions {
  readonly define?: (server: McpServer) => void;
  readonly server?: ServerOptions;
  readonly http?: HttpOptions;
  readonly client?: SessionOptions;
}

export interface Place {
  readonly server: McpServer;
  readonly served: Served;
  readonly client: SessionClient;
  /** Pushes these numbers to the session, one after the other. */
  push(...numbers: number[]): Promise<void>;
}

/** Serves until the test ends, and opens a session. */
export async function placeOn(column: Column, options: PlaceOptions = {}): Promise<Place> {
  const server = new McpServer({ name: "test", version: "1.0.0" }, optionsOn(column, options.server));
  options.define?.(server);
  const served = await serve(server, options.http);
  const client = await SessionClient.open(served, options.client);
  return { server, served, client, push: (...numbers) => pushTo({ server, client }, ...numbers) };
}

/** Pushes these numbers to a session, one after the other. */
export async function pushTo(
  { server, client }: Pick<Place, "server" | "client">,
  ...numbers: number[]
): Promise<void> {
  for (const data of numbers) {
    const params = { level: "info", data };
    expect(await server.push.toSession(client.id, "notifications/message", params)).toBe(true);
  }
}

/** A stream from which its client can resume before any message. */
export async function primed(stream: Promise<EventReply>): Promise<EventReply> {
  const reply = await stream;
  await until(() => reply.lastEventId !== undefined);
  return reply;
}

/** Resolves when exactly these numbers have arrived on the stream. */
export async function got(stream: EventReply, ...numbers: number[]): Promise<void> {
  await until(() => stream.isOver() || logDataOf(stream.messages).length >= numbers.length);
  expect(logDataOf(stream.messages)).toEqual(numbers);
}
