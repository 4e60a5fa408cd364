// Nothing may be rejected behind a test's back.
import { afterEach, beforeEach, expect } from "vitest";
import { nextTurn } from "./turns.ts";

/** Fails each test of the file during which a rejection was not handled. */
export function expectNoUnhandledRejections(): void {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(reason);

  beforeEach(() => {
    rejections.length = 0;
    process.on("unhandledRejection", onRejection);
  });

  afterEach(async () => {
    await nextTurn();
    process.off("unhandledRejection", onRejection);
    expect(rejections).toEqual([]);
  });
}
