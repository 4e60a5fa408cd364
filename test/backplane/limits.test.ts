// The limits of a cluster in SECURITY.md are those of the code.
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { createClient } from "@redis/client";
import { memoryBackplane } from "halyard/cluster";
import { redisBackplane } from "halyard/redis";
import { expect, onTestFinished, test, vi } from "vitest";
import { holdClocks } from "../support/clock.ts";
import { readTable } from "../support/documents.ts";
import { faultyBackplane } from "../support/faulty-backplane.ts";
import { HeldBackplane, joinNode, nodeId } from "../support/nodes.ts";
import { nextTurn, until } from "../support/turns.ts";

const rows = readTable("SECURITY.md", "Times and sizes of a cluster");

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

const probes: Readonly<Record<string, (limit: number) => Promise<void>>> = {
  "milliseconds of the lease": async (limit) => {
    const declared = readFileSync(new URL("../../dist/backplane/engine.d.ts", import.meta.url), "utf8");
    expect(declared).toMatch(new RegExp(String.raw`@default \{${limit}\} \*/\s+readonly leaseMs\?`));
  },
  "milliseconds of an operation": async (limit) => {
    const push = await hangingPush();
    expect(await reasonOf(push)).toContain(`no answer within ${limit} ms`);
  },
  "operations at once": async (limit) => {
    const push = await hangingPush();
    const waiting = Array.from({ length: limit }, () => push().catch(() => "too late"));
    await expect(push()).rejects.toThrow(`${limit} operations wait for it`);
    expect(await Promise.race([...waiting, "waiting"])).toBe("waiting");
  },
  "milliseconds to join": async (limit) => {
    const deaf = new HeldBackplane();
    deaf.meddle = (to) => ({ ...to, message() {} });
    expect(await reasonOf(() => joinNode(deaf))).toContain(`do not come back within ${limit} ms`);
  },
  "milliseconds to connect to Redis": async (limit) => {
    const silent = createServer((socket) => onTestFinished(() => void socket.destroy()));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const backplane = redisBackplane(createClient({ socket: { host: "127.0.0.1", port } }));
    expect(await reasonOf(() => backplane.open(join))).toContain(`No answer within ${limit} ms`);
  },
  "milliseconds for another node": async (limit) => {
    const shared = new HeldBackplane();
    const [asking, silent] = [await joinNode(shared), await joinNode(shared)];
    await until(() => asking.cluster.nodes().length === 2);
    shared.meddle = (to, node) => (node === nodeId(silent) ? { ...to, message() {} } : to);
    const push = asking.push.toSession(`${nodeId(silent)}.${crypto.randomUUID()}`, "notifications/message");
    await expect(push).rejects.toThrow(`did not respond within ${limit} ms`);
  },
  "entries of a log": async (limit) => expect(await keptOf(limit + 5, 1)).toBe(limit),
  "bytes of a log": async (limit) => {
    expect(await keptOf(3, limit / 2)).toBe(2);
    expect(await keptOf(3, limit / 2 + 1)).toBe(1);
  },
};

test("every limit of the table has a probe, and says what happens past it", () => {
  expect(rows.map(({ limit }) => limit)).toEqual(Object.keys(probes));
  expect(rows.filter((row) => row["past it"] === "")).toEqual([]);
});

test.each(Object.entries(probes))("the limit of %s is what the table says", async (name, probe) => {
  await probe(Number(rows.find(({ limit }) => limit === name)?.["default"]));
});
