// The tasks that other nodes run: passes answers to them, finds out whether they still run, and tells all nodes which have ended.
import type { Cluster } from "../../cluster/node/cluster.ts";
import { errorCodes, HalyardError, invalidRequest, ProtocolError } from "../../base/errors.ts";
import type { TaskEnd } from "../diagnostics/events.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import { readResponses } from "../asking/question.ts";
import type { TaskRecord } from "./record.ts";
import type { RunningTask } from "./task-asker.ts";

/** Milliseconds that the node that runs a task has to answer. */
const answerMs = 3000;

/** The messages between nodes about tasks. */
const messages = { ended: "task", isRunning: "task-running", update: "task-update" } as const;

/** What this node does when it hears of tasks. */
export interface TaskWatch {
  /** A task has ended, on whatever node. */
  ended(id: string): void;
  /** A node has left. */
  left(node: string): void;
  /** The engine is back: messages may have been lost. */
  back(): void;
}

export class TasksElsewhere {
  readonly #cluster: Cluster;
  readonly #runs: ReadonlyMap<string, RunningTask>;
  readonly #checks = new Map<string, Promise<boolean>>();

  constructor(cluster: Cluster, runs: ReadonlyMap<string, RunningTask>, watch: TaskWatch) {
    this.#cluster = cluster;
    this.#runs = runs;
    cluster.on(messages.ended, ({ id, status }, from) => {
      if (typeof id !== "string" || from === cluster.node) return;
      // The other node has stored the end of the task, so this node drops its result.
      if (status === "cancelled") runs.get(id)?.stop("cancelled", "The task was cancelled");
      else if (status === "failed") runs.get(id)?.stop("failed", "Another node took this one for gone");
      watch.ended(id);
    });
    cluster.on(messages.isRunning, ({ id }) => ({ isRunning: typeof id === "string" && runs.has(id) }));
    cluster.forwarding.onPassed(messages.update, {
      // A task that does not run here expects no answers.
      expects: ({ id }) => (runs.has(String(id)) ? "yes" : {}),
      take: ({ id, responses }) => this.#answer(id, responses),
    });
    cluster.onLeft((node) => watch.left(node));
    cluster.onBack(() => watch.back());
  }

  /** The id of this node. */
  get node(): string {
    return this.#cluster.node;
  }

  /** Tells all nodes that a task has ended, so that nodes with waiting requests read it again. */
  tell(id: string, status: TaskEnd): void {
    if (this.#cluster.hasJoined) this.#cluster.bus.sendSoon("all", messages.ended, { id, status });
  }

  /** Returns why no node runs this unfinished task any more. Undefined if one does, or if this node cannot know. */
  async whyOver({ id, node }: TaskRecord): Promise<string | undefined> {
    if (node === undefined || this.#runs.has(id)) return undefined;
    if (node === this.#cluster.node) return "The server could not store the result";
    if (!this.#cluster.isLeased || this.#cluster.hears(node)) return undefined;
    let check = this.#checks.get(id);
    if (check === undefined) {
      check = this.#isOver(id, node).finally(() => this.#checks.delete(id));
      this.#checks.set(id, check);
    }
    return (await check) ? "The node that ran the task is gone" : undefined;
  }

  /** Passes answers of a caller to the node that runs a task. Rejects if an answer is invalid, or the node does not confirm them. */
  async update(
    caller: string,
    { id, node }: TaskRecord,
    responses: Readonly<Record<string, JsonObject>>,
  ): Promise<void> {
    if (node === undefined) return;
    const { forwarding } = this.#cluster;
    const body = { id, responses };
    const outcome = await forwarding.pass({ caller, node, kind: messages.update, key: { id }, body });
    if (outcome.state !== "answered") {
      if (!this.#cluster.hears(node)) return;
      throw invalidRequest("The node that runs the task does not respond: try again");
    }
    const { error } = outcome.answer;
    if (isObject(error)) throw new ProtocolError(Number(error["code"]), String(error["message"]));
  }

  async #isOver(id: string, node: string): Promise<boolean> {
    try {
      const answer = await this.#cluster.bus.request(node, messages.isRunning, { id }, answerMs);
      return answer?.["isRunning"] !== true && this.#cluster.isLeased && !this.#cluster.hears(node);
    } catch {
      return false;
    }
  }

  async #answer(id: unknown, responses: unknown): Promise<JsonObject> {
    try {
      await this.#runs.get(String(id))?.answer(readResponses(responses));
      return {};
    } catch (error) {
      if (error instanceof ProtocolError) return { error: { code: error.rpcCode, message: error.message } };
      if (!(error instanceof HalyardError)) throw error;
      return { error: { code: errorCodes.invalidParams, message: error.message } };
    }
  }
}
