// How often each tool, prompt or other method was called, how long it took, and how it ended.
import type { RequestEvent, TaskEvent } from "../../window/index.ts";
import { type Buckets, Histogram } from "./histogram.ts";
import { cut } from "./texts.ts";

/** Tools, prompts and other methods. Past it, calls of further ones count in the row `others`. */
const maxRows = 500;
const maxCodes = 10;
const maxNameLength = 100;

/** The figures of one method, or of one tool or prompt, on one node. */
export interface ToolFigures {
  readonly method: string;
  readonly name: string | undefined;
  readonly calls: number;
  readonly errors: number;
  readonly cancelled: number;
  readonly longestMs: number;
  readonly errorCodes: readonly (readonly [code: number, count: number])[];
  readonly durations: Buckets;
}

/** The methods whose subject is the name of a definition. Other subjects, such as URIs, are too many. */
const named: ReadonlySet<string> = new Set(["tools/call", "prompts/get"]);

/** The name by which a call of this method is counted. */
export function countedName(method: string, name: string | undefined): string | undefined {
  return name !== undefined && named.has(method) ? cut(name, maxNameLength) : undefined;
}

export class Tools {
  readonly #rows = new Map<string, ToolCounts>();
  readonly #others = new ToolCounts("others", undefined);

  add(event: RequestEvent, weight: number): void {
    this.#rowOf(event.method, event.name).add(event, weight);
  }

  /** The call was counted when it became a task. */
  taskEnded({ tool, durationMs, status }: TaskEvent): void {
    this.#rowOf("tools/call", tool).taskEnded(durationMs ?? 0, status);
  }

  #rowOf(method: string, subject: string | undefined): ToolCounts {
    const name = countedName(method, subject);
    const key = keyOf(method, name);
    let row = this.#rows.get(key);
    if (row === undefined) {
      if (this.#rows.size >= maxRows) row = this.#others;
      else this.#rows.set(key, (row = new ToolCounts(method, name)));
    }
    return row;
  }

  figures(): ToolFigures[] {
    const rows = [...this.#rows.values()];
    return (this.#others.calls > 0 ? [...rows, this.#others] : rows).map((row) => row.figures());
  }
}

/** Tells rows apart: a method has no space. */
export function keyOf(method: string, name: string | undefined): string {
  return name === undefined ? method : `${method} ${name}`;
}

class ToolCounts {
  readonly #method: string;
  readonly #name: string | undefined;
  readonly #durations = new Histogram();
  readonly #codes = new Map<number, number>();
  calls = 0;
  #errors = 0;
  #cancelled = 0;
  #longestMs = 0;

  constructor(method: string, name: string | undefined) {
    this.#method = method;
    this.#name = name;
  }

  add({ durationMs, outcome, errorCode, task }: RequestEvent, weight: number): void {
    this.calls += weight;
    if (task === undefined) this.#took(durationMs, weight);
    if (outcome === "cancelled") this.#cancelled += weight;
    if (outcome !== "error") return;
    this.#errors += weight;
    // A result that is an error has no code.
    if (errorCode === undefined) return;
    const count = this.#codes.get(errorCode);
    if (count !== undefined || this.#codes.size < maxCodes) this.#codes.set(errorCode, (count ?? 0) + weight);
  }

  taskEnded(durationMs: number, status: TaskEvent["status"]): void {
    this.#took(durationMs, 1);
    if (status === "cancelled") this.#cancelled++;
    else if (status !== "completed") this.#errors++;
  }

  #took(durationMs: number, weight: number): void {
    this.#durations.add(durationMs, weight);
    if (durationMs > this.#longestMs) this.#longestMs = durationMs;
  }

  figures(): ToolFigures {
    return {
      method: this.#method,
      name: this.#name,
      calls: this.calls,
      errors: this.#errors,
      cancelled: this.#cancelled,
      longestMs: this.#longestMs,
      errorCodes: [...this.#codes],
      durations: this.#durations.buckets(),
    };
  }
}
