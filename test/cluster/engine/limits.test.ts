// The limits of a cluster in docs/reference/limits.md are those of the code, and the times that no option changes.
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { createClient } from "@redis/client";
import { memoryBackplane } from "halyard/cluster";
import { redisBackplane } from "halyard/redis";
import { expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import { limitOf, limitsUnder } from "../../support/limits-page.ts";
import { faultyBackplane } from "../../support/faulty-backplane.ts";
import { HeldBackplane, joinNode, nodeId } from "../../support/nodes.ts";
import { nextTurn, until } from "../../support/turns.ts";

type Probe = (limit: number) => Promise<void>;

const join = {
  prefix: "halyard:test:",
  node: "a",
  receiver: { lost() {}, back() {}, entry() {}, message() {} },
  logger: console,
};

/** Why work rejects in the end, by a clock that the test moves on. */
async function reasonOf(begin: () => Promise<unknown>): Promise<string> {
  holdClocks("setTimeout", "clearTimeout");
  const reasons: string[] = [];
  begin().then(
    () => reasons.push("It resolved"),
    (error: unknown) => reasons.push(String(error)),
  );
  while (reasons.length === 0) {
    await vi.advanceTimersByTimeAsync(100);
    await nextTurn();
  }
  return reasons.join();
}

/** Pushes to a session through an engine that never answers. */
async function hangingPush(): Promise<() => Promise<boolean>> {
  const { backplane, node } = faultyBackplane(memoryBackplane());
  const server = await joinNode(backplane);
  node.hang();
  onTestFinished(() => node.heal());
  return () => server.push.toSession("unknown", "notifications/message");
}

async function keptOf(count: number, length: number): Promise<number> {
  const engine = await memoryBackplane().open(join);
  for (let at = 0; at < count; at++) await engine.append("log", "x".repeat(length), { keepMs: 60_000 });
  return (await engine.read("log", 1)).length;
}

const probes: Readonly<Record<string, Probe>> = {
  leaseMs: async (limit) => {
    const declared = readFileSync(
      new URL("../../../dist/cluster/engine/engine.d.ts", import.meta.url),
      "utf8",
    );
    expect(declared).toMatch(new RegExp(String.raw`@default \{${limit}\}\s+\*/\s+readonly leaseMs\?`));
  },
  "entries of a log": async (limit) => expect(await keptOf(limit + 5, 1)).toBe(limit),
  "bytes of a log": async (limit) => {
    expect(await keptOf(3, limit / 2)).toBe(2);
    expect(await keptOf(3, limit / 2 + 1)).toBe(1);
  },
};

/** Times and counts that no option changes. */
const fixed: Readonly<Record<string, readonly [limit: number, probe: Probe]>> = {
  "milliseconds of an operation": [
    5000,
    async (limit) => {
      const push = await hangingPush();
      expect(await reasonOf(push)).toContain(`no answer within ${limit} ms`);
    },
  ],
  "operations at once": [
    10_000,
    async (limit) => {
      const push = await hangingPush();
      const waiting = Array.from({ length: limit }, () => push().catch(() => "too late"));
      await expect(push()).rejects.toThrow(`${limit} operations wait for it`);
      expect(await Promise.race([...waiting, "waiting"])).toBe("waiting");
    },
  ],
  "milliseconds to join": [
    10_000,
    async (limit) => {
      const deaf = new HeldBackplane();
      deaf.meddle = (to) => ({ ...to, message() {} });
      expect(await reasonOf(() => joinNode(deaf))).toContain(`do not come back within ${limit} ms`);
    },
  ],
  "milliseconds to connect to Redis": [
    10_000,
    async (limit) => {
      const silent = createServer((socket) => onTestFinished(() => void socket.destroy()));
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void silent.close());
      const { port } = silent.address() as AddressInfo;
      const backplane = redisBackplane(createClient({ socket: { host: "127.0.0.1", port } }));
      expect(await reasonOf(() => backplane.open(join))).toContain(`No answer within ${limit} ms`);
    },
  ],
  "milliseconds for another node": [
    1000,
    async (limit) => {
      const shared = new HeldBackplane();
      const [asking, silent] = [await joinNode(shared), await joinNode(shared)];
      await until(() => asking.cluster.nodes().length === 2);
      shared.meddle = (to, node) => (node === nodeId(silent) ? { ...to, message() {} } : to);
      const push = asking.push.toSession(`${nodeId(silent)}.${crypto.randomUUID()}`, "notifications/message");
      await expect(push).rejects.toThrow(`did not respond within ${limit} ms`);
    },
  ],
};

test("every limit of the page has a probe", () => {
  expect(limitsUnder("Cluster").map(({ name }) => name)).toEqual(Object.keys(probes));
});

test.each(Object.entries(probes))("%s is what the page says", (name, probe) =>
  probe(limitOf("Cluster", name)),
);

test.each(Object.entries(fixed))("a cluster keeps to its fixed number of %s", (_, [limit, probe]) =>
  probe(limit),
);
