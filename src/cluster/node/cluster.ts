// The nodes that serve together, as one of them sees them, and ids that name a node. A process without a backplane is a cluster of one.
import type { JsonObject } from "../../base/wire/message.ts";
import type { BusHandler } from "./bus.ts";
import type { Engine, LogEntry, ValueKind } from "../engine/engine.ts";
import type { LogReader } from "./feed.ts";
import type { Passed, PassOutcome, Taker } from "./forwarding.ts";
import type { LogLimits } from "./log-room.ts";
import type { ClusterNode } from "./presence.ts";

/**
 * The parts of a server that share something register a handler for their messages and a step of joining before the node joins.
 * Nothing here knows what the messages, values and logs mean.
 */
export interface Cluster {
  /** The id of this node: another one each time it joins, and empty for a process alone. */
  readonly node: string;
  /** The store that all nodes share. Every operation rejects with the code `BACKPLANE_UNAVAILABLE` if it fails. */
  readonly engine: Engine;
  /** The secrets of the backplane, the one that seals first; empty if it has none. */
  readonly secrets: readonly string[];
  /** Whether no other process can change the engine's values, so that the copies of this one are never outdated. */
  readonly isAlone: boolean;
  /** Milliseconds for which a node that no longer hears the others may serve its copies. */
  readonly leaseMs: number;

  /** Joins, once for all transports of the server. Rejects if the engine cannot be used. Call {@link Cluster.leave} as often. */
  join(): Promise<void>;
  /** Leaves when every transport has left. */
  leave(): Promise<void>;
  /** Whether this node is in the cluster, perhaps without reaching the engine right now. */
  readonly hasJoined: boolean;
  /** Whether this node has joined and, as far as it knows, reaches the engine. */
  readonly isReachable: boolean;
  /** Whether this node still hears the others, so that its copies are good. */
  readonly isLeased: boolean;
  /** The number of the lease: undefined without one, and another one when messages may have been lost since. */
  readonly lease: number | undefined;
  /** The nodes that this one hears; none without a backplane. */
  nodes(): ClusterNode[];
  /** Whether this node hears that one. */
  hears(node: string): boolean;
  /** The time on the wall clock of a node, as far as this one knows it: clocks need not agree. */
  clockOf(node: string): number;

  /** Adds a handler for the messages of a kind, until you call the returned function. Several endpoints may each add theirs. */
  on(kind: string, handler: BusHandler): () => void;
  /**
   * Adds a step of joining, which may use the engine. The node has joined when all steps have resolved. If one rejects, joining
   * fails.
   */
  onJoin(step: () => Promise<void>): void;
  /** Adds members to what nodes tell each other about themselves. */
  introduce(about: () => JsonObject): void;
  /** Adds a check whether the engine still has a value that must be there. */
  onVerify(check: () => Promise<boolean>): void;
  /** Calls `callback` when another node has left, until you call the returned function. */
  onLeft(callback: (node: string) => void): () => void;
  /**
   * Calls `callback` when the engine works again, until you call the returned function. Messages may have been lost meanwhile.
   */
  onBack(callback: () => void): () => void;

  /** Sends messages to other nodes. */
  readonly bus: NodeMessages;
  /** Asks other nodes, and answers their questions. */
  readonly questions: NodeQuestions;
  /** Passes messages of clients on to other nodes. */
  readonly forwarding: Forwards;
  /** Counts the bytes in the logs of sessions, and clears logs when there are too many. */
  readonly logBudget: LogUse;
  /** The code of a layer that only nodes with others need; undefined for a process alone. */
  part<Part>(kind: PartKind<Part>): Part | undefined;

  /**
   * Passes the entries of a log to the reader, from {@link FollowedLog.start} until {@link Cluster.stopReading}. Also tell the
   * engine to follow the log, with an entry or with `follow`; the node repeats that at intervals.
   */
  read(log: string, reader: LogReader): FollowedLog;
  /** Stops passing entries to the reader of this log. If it was the last reader, also tell the engine. */
  stopReading(log: FollowedLog): void;
  /**
   * Resolves with whether the engine still has the values of this node. If not, it has lost its data although the connection
   * stayed, which is handled like an outage. Rejects if the engine cannot be reached.
   */
  verify(): Promise<boolean>;
  /** Logs that a value in the engine has an unexpected form. It counts as absent. */
  ignoreInvalid(kind: ValueKind): void;
}

/** The sizes of the logs of sessions, to the knowledge of this node. */
export interface LogUse {
  readonly bytes: number;
  readonly logs: number;
  /** Sets the limits. With several endpoints, the largest limits apply. */
  allow(limits: LogLimits): void;
  /** Forgets logs that have expired. Call it at intervals. */
  sweep(now: number): void;
}

/** Messages to other nodes. */
export interface NodeMessages {
  /** Sends a message to a node, or to all, this one included. Rejects if the engine fails. Resolving does not prove that it arrives. */
  tell(kind: string, body: JsonObject, to?: string): Promise<void>;
  /** Sends a message to one node and resolves with its answer, or with undefined if none arrives in time. */
  request(to: string, kind: string, body: JsonObject, timeMs: number): Promise<JsonObject | undefined>;
  /** Sends a message to all nodes. Passes each answer to `isEnough`, until that returns true or the time is over. */
  requestAll(
    kind: string,
    body: JsonObject,
    timeMs: number,
    isEnough: (answer: JsonObject, from: string) => boolean,
  ): Promise<void>;
  /** Sends a message that may be lost, and logs the first failure of an outage. */
  sendSoon(to: string, kind: string, body: JsonObject): void;
}

/** Questions to other nodes. */
export interface NodeQuestions {
  /** Answers `kind` of {@link NodeQuestions.askAll} on this node. */
  answer(kind: string, isYes: (body: JsonObject) => boolean | Promise<boolean>): void;
  /**
   * Resolves with `yes` as soon as another node answers yes, and with `silence` if a node that this one hears does not answer in
   * time.
   */
  askAll(kind: string, body: JsonObject): Promise<"yes" | "no" | "silence">;
  /** Sends a message to one node and resolves with its answer, or with undefined if that node is gone. Rejects if it does not answer. */
  ask(node: string, kind: string, body: JsonObject): Promise<JsonObject | undefined>;
}

/** Passes on messages that a client sent to this node but that another one needs. */
export interface Forwards {
  /** Handles what other nodes pass on, until you call the returned function. */
  onPassed(kind: string, taker: Taker): () => void;
  /**
   * Passes a message to the node that it belongs to: first the key, and the body only if that node expects it. Rejects with
   * `BACKPLANE_UNAVAILABLE` if it was not passed on, because the engine fails or the caller has too many bytes in transit.
   */
  pass(passed: Passed): Promise<PassOutcome>;
  /** Sends a short message to a node, or to all. Resolves when the engine has it; rejects as {@link Forwards.pass} does. */
  tell(caller: string, to: string, kind: string, body: JsonObject): Promise<void>;
}

/** A log that this node follows. */
export interface FollowedLog {
  readonly log: string;
  /** The sequence number of the last entry that was passed on. */
  readonly position: number;
  /** Begins to pass entries on: those after `last`, or all without it. */
  start(last: LogEntry | undefined): void;
  /** Reads missing entries. Rejects if the engine fails. */
  catchUp(): Promise<void>;
  /** Reads missing entries, and tries again until it succeeds. */
  catchUpSoon(): void;
}

/** Names such a part, in the layer that uses it. {@link Cluster.part} returns the part, and undefined for a process alone. */
export class PartKind<Part> {
  readonly name: string;
  declare protected readonly part: Part;

  constructor(name: string) {
    this.name = name;
  }
}

/** The parts that a backplane contains, by kind. */
export type Parts = ReadonlyMap<PartKind<unknown>, unknown>;

/** The type of the part of a kind. */
export type PartOf<Kind> = Kind extends PartKind<infer Part> ? Part : never;

const idPattern = /^([\w-]{12})\.[\da-f-]{36}$/;

/** An unguessable id. In a cluster, it begins with the id of this node. */
export function newIdOn({ node }: Pick<Cluster, "node">): string {
  const id = crypto.randomUUID();
  return node === "" ? id : `${node}.${id}`;
}

/** The node that made this id, if the id names one. Clients may send any value. */
export function nodeOf(id: unknown): string | undefined {
  return typeof id === "string" ? idPattern.exec(id)?.[1] : undefined;
}
