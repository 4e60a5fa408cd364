// Why the server refused messages and requests, and how often.
import type { RefusalEvent } from "../../window/index.ts";
import type { RefusalRow } from "../answers.ts";
import { Newest } from "./newest.ts";
import { cutSubject } from "./texts.ts";

/** Reasons of refusals. Past it, the one that was given longest ago is dropped. */
export const maxReasons = 100;
const maxReasonLength = 200;

interface Refusal {
  readonly reason: string;
  readonly status: number | undefined;
  readonly errorCode: number;
  count: number;
  at: number;
}

export class Refusals {
  readonly #rows = new Newest<string, Refusal>(maxReasons);

  add({ reason: given, status, errorCode }: RefusalEvent, now: number): void {
    const reason = cutSubject(given, maxReasonLength);
    const key = `${status} ${errorCode} ${reason}`;
    const row = this.#rows.get(key) ?? { reason, status, errorCode, count: 0, at: now };
    row.count++;
    row.at = now;
    this.#rows.set(key, row);
  }

  rows(now: number): RefusalRow[] {
    return [...this.#rows.values()].map(({ reason, status, errorCode, count, at }) => {
      return { reason, status, errorCode, count, agoMs: now - at };
    });
  }
}
