// One row: something that a hostile peer does, and what comes of it, on every mount where it can be done.
import type { MountName } from "./mounts.ts";

interface RowBase {
  /** What is tried, and what happens instead, in plain words. */
  readonly name: string;
  /** The advisories of other implementations that it answers. */
  readonly advisories?: readonly string[];
  /** The limit of docs/reference/limits.md that it runs into. */
  readonly limit?: string;
  /** The requirements that it shows. */
  readonly requirements?: readonly string[];
  /** The mounts where it cannot be done, each with the reason. */
  readonly leftOut?: Partial<Record<MountName, string>>;
}

/** A row that needs no more than messages, so that it applies to a pipe too. */
export interface MessageRow extends RowBase {
  readonly over: "messages";
  /** Opens its server with `openDoor`. */
  attack(mount: MountName): Promise<void>;
}

/** A row about HTTP itself. A pipe is left out by what it is: it has no headers, hosts or connections to share. */
export interface HttpRow extends RowBase {
  readonly over: "http";
  attack(mount: Exclude<MountName, "stdio">): Promise<void>;
}

export type Row = MessageRow | HttpRow;

/** What rows are about. Each has a list of its own; those that are not built have none, and a reason in `advisories.ts`. */
export type Subject =
  | "isolation"
  | "guard"
  | "sessions"
  | "messages"
  | "names"
  | "secrets"
  | "slowness"
  | "limits"
  | "schemas"
  | "callers"
  | "tools"
  | "authorization"
  | "tasks"
  | "request state"
  | "cluster"
  | "developer pages"
  | "client";
