// What every session store has to do, as checks that any test runner can run.
import { newestRevision } from "../protocol/revisions/index.ts";
import type { SessionRecord, SessionStore } from "../session/store.ts";
import { expectSame, pause } from "./expect-same.ts";
import { contractOf, type StoreCheck } from "./store-check.ts";

const long = 60_000;
const short = 40;
/** Short, and yet long enough for two calls of a store that is far away, on a machine that is busy. */
const brief = 250;

function recordOf(id: string, more: Partial<SessionRecord> = {}): SessionRecord {
  return { id, revision: newestRevision("legacy").date, clientCapabilities: {}, initialized: false, ...more };
}

/**
 * The checks that a {@link SessionStore} has to pass, for a test of your own store.
 *
 * @example
 * ```ts
 * import { MemorySessionStore } from "halyard/node";
 * import { sessionStoreContract } from "halyard/testing";
 *
 * for (const { title, run } of sessionStoreContract()) {
 *   await run(() => new MemorySessionStore());
 *   console.log(title);
 * }
 * ```
 */
export function sessionStoreContract(): readonly StoreCheck[] {
  return contractOf(checks);
}

const checks: Readonly<Record<string, (store: SessionStore) => Promise<void>>> = {
  async "a record comes back as it was saved"(store) {
    const record = recordOf("a", {
      principal: { issuer: "https://issuer.example", subject: "alice" },
      clientInfo: { name: "ünï", version: "1.0.0" },
      clientCapabilities: { roots: { listChanged: true } },
      logLevel: "warning",
      initialized: true,
    });
    await store.save(record, long);
    expectSame(await store.load("a"), record);
  },

  async "an unknown id has no record"(store) {
    await store.save(recordOf("a"), long);
    expectSame(await store.load("b"), undefined);
    expectSame(await store.load("__proto__"), undefined);
  },

  async "a later record replaces the earlier one"(store) {
    await store.save(recordOf("a"), long);
    await store.save(recordOf("a", { initialized: true }), long);
    expectSame((await store.load("a"))?.initialized, true);
  },

  async "what was saved or loaded is a copy"(store) {
    const record = recordOf("a", { clientCapabilities: { roots: {} } });
    await store.save(record, long);
    Object.assign(record.clientCapabilities, { sampling: {} });
    const loaded = await store.load("a");
    expectSame(loaded?.clientCapabilities, { roots: {} });
    Object.assign(loaded?.clientCapabilities ?? {}, { elicitation: {} });
    expectSame((await store.load("a"))?.clientCapabilities, { roots: {} });
  },

  async "a removed record is gone, and removing it again is no mistake"(store) {
    await store.save(recordOf("a"), long);
    await store.save(recordOf("b"), long);
    await store.remove("a");
    await store.remove("a");
    expectSame(await store.load("a"), undefined);
    expectSame((await store.load("b"))?.id, "b");
  },

  async "a session that is not touched is forgotten, and others are not"(store) {
    await store.save(recordOf("kept"), long);
    await store.save(recordOf("idle"), short);
    await pause(short * 2);
    expectSame(await store.load("idle"), undefined);
    expectSame((await store.load("kept"))?.id, "kept");
  },

  async "a session that is touched is kept"(store) {
    await store.save(recordOf("a"), brief);
    await store.touch(["a", "unknown"], long);
    await store.save(recordOf("b"), short);
    await pause(brief);
    expectSame((await store.load("a"))?.id, "a");
    expectSame(await store.load("b"), undefined);
    expectSame(await store.load("unknown"), undefined);
  },

  async "touching does not bring back what was removed or forgotten"(store) {
    await store.save(recordOf("removed"), long);
    await store.save(recordOf("idle"), short);
    await store.remove("removed");
    await pause(short * 2);
    await store.touch(["removed", "idle"], long);
    expectSame(await store.load("removed"), undefined);
    expectSame(await store.load("idle"), undefined);
  },

  async "touching nothing is no mistake"(store) {
    await store.touch([], long);
  },
};
