// The contract of session stores, as checks that any test runner can run.
import { newestRevision } from "../protocol/revisions/index.ts";
import type { SessionRecord, SessionStore } from "../session/store.ts";
import { expectSame, pause } from "./expect-same.ts";
import { contractOf, type StoreCheck } from "./store-check.ts";

const long = 60_000;
const short = 40;
/** Long enough for two calls of a remote store on a busy machine. */
const brief = 250;

function recordOf(id: string, more: Partial<SessionRecord> = {}): SessionRecord {
  return { id, revision: newestRevision("legacy").date, clientCapabilities: {}, initialized: false, ...more };
}

/**
 * The checks that a {@link SessionStore} must pass. Run them against your own store.
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
  async "load returns the record that save stored"(store) {
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

  async "save and load copy the record"(store) {
    const record = recordOf("a", { clientCapabilities: { roots: {} } });
    await store.save(record, long);
    Object.assign(record.clientCapabilities, { sampling: {} });
    const loaded = await store.load("a");
    expectSame(loaded?.clientCapabilities, { roots: {} });
    Object.assign(loaded?.clientCapabilities ?? {}, { elicitation: {} });
    expectSame((await store.load("a"))?.clientCapabilities, { roots: {} });
  },

  async "remove deletes a record, and does nothing for an unknown id"(store) {
    await store.save(recordOf("a"), long);
    await store.save(recordOf("b"), long);
    await store.remove("a");
    await store.remove("a");
    expectSame(await store.load("a"), undefined);
    expectSame((await store.load("b"))?.id, "b");
  },

  async "a record expires after its time, and others stay"(store) {
    await store.save(recordOf("kept"), long);
    await store.save(recordOf("idle"), short);
    await pause(short * 2);
    expectSame(await store.load("idle"), undefined);
    expectSame((await store.load("kept"))?.id, "kept");
  },

  async "touch extends the time of a record"(store) {
    await store.save(recordOf("a"), brief);
    await store.touch(["a", "unknown"], long);
    await store.save(recordOf("b"), short);
    await pause(brief);
    expectSame((await store.load("a"))?.id, "a");
    expectSame(await store.load("b"), undefined);
    expectSame(await store.load("unknown"), undefined);
  },

  async "touch does not restore removed or expired records"(store) {
    await store.save(recordOf("removed"), long);
    await store.save(recordOf("idle"), short);
    await store.remove("removed");
    await pause(short * 2);
    await store.touch(["removed", "idle"], long);
    expectSame(await store.load("removed"), undefined);
    expectSame(await store.load("idle"), undefined);
  },

  async "touch accepts an empty list"(store) {
    await store.touch([], long);
  },
};
