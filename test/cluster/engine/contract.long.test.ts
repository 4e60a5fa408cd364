// The contract of backplanes, on every engine with every client; and that it finds engines that break it.
import { type Backplane } from "halyard";
import { memoryBackplane } from "halyard/cluster";
import { backplaneContract } from "halyard/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backplanes, type RunningBackplane, startBackplane } from "../../support/backplanes.ts";

describe.each(backplanes)("backplaneContract · $name", (row) => {
  let running: RunningBackplane;
  beforeAll(async () => {
    running = await startBackplane(row);
  });
  afterAll(() => running?.close());

  test.each(backplaneContract())("$title", ({ run }) => run(() => running.backplane));
});

type Join = Parameters<Backplane["open"]>[0];
type Engine = Awaited<ReturnType<Backplane["open"]>>;

/** What is wrong with an engine: other methods than those of the good one, or another receiver. */
interface Fault {
  readonly methods?: (engine: Engine) => Partial<Engine>;
  readonly join?: (options: Join) => Partial<Join>;
}

/** The fault that each check finds. */
const faults: Readonly<Record<string, Fault>> = {
  "get returns what another node created, with its version": {
    methods: (engine) => ({ create: async (...given) => (await engine.create(...given)) && "version" }),
  },
  "an empty text is a value": {
    methods: (engine) => ({ get: async (key) => emptyIsNone(await engine.get(key)) }),
  },
  "a text may have a megabyte less its overhead": {
    methods: (engine) => ({ create: (key, text, ttl) => engine.create(key, text.slice(0, 1e5), ttl) }),
  },
  "one of many concurrent creates succeeds": {
    methods: (engine) => ({ create: async (...given) => (await engine.create(...given)) ?? "again" }),
  },
  "replace needs the version, which every change replaces": {
    methods: (engine) => ({ replace: async (...given) => (await engine.replace(...given)) && given[3] }),
  },
  "one of many concurrent replaces of a version succeeds": {
    methods: (engine) => ({
      async replace(key, text, ttlMs, version) {
        if ((await engine.get(key)) === undefined) return undefined;
        return (await engine.replace(key, text, ttlMs, version)) ?? "forced";
      },
    }),
  },
  "a removed value can be created again, but not replaced": {
    methods: (engine) => ({
      replace: async (...given) =>
        (await engine.replace(...given)) ?? engine.create(given[0], given[1], given[2]),
    }),
  },
  "a value expires after its time, and one without a time stays": {
    methods: (engine) => ({ create: (key, text, ttlMs) => engine.create(key, text, ttlMs ?? 20) }),
  },
  "replace starts the time again, and may take it away": {
    methods: (engine) => ({ replace: (key, text, _, version) => engine.replace(key, text, 1000, version) }),
  },
  "touch starts the time again, and brings nothing back": { methods: () => ({ touch: async () => {} }) },
  "tags are independent, whatever their characters": {
    methods: (engine) => ({
      create: (key, ...rest) => engine.create({ ...key, tag: key.tag.toLowerCase() }, ...rest),
    }),
  },
  "kinds are independent": {
    methods: (engine) => ({ create: (key, ...rest) => engine.create({ ...key, kind: "mark" }, ...rest) }),
  },
  "count is the number of values, without the removed and expired ones": {
    methods: () => ({ count: async () => 3 }),
  },
  "read returns the entries in order, and each names the one before it": {
    methods: (engine) => ({ read: async (...given) => (await engine.read(...given)).toReversed() }),
  },
  "read begins with the given number or the next greater one": {
    methods: (engine) => ({ read: (log, from) => engine.read(log, from + 1) }),
  },
  "logs are independent, whatever the characters of their names": {
    methods: (engine) => ({ append: (log, ...rest) => engine.append(log.toLowerCase(), ...rest) }),
  },
  "concurrent appends of two nodes get numbers of their own": { methods: () => ({ append: async () => 1 }) },
  "follow passes on what any node appends from then on, the same as read returns it": {
    join: ({ receiver }) => ({
      receiver: { ...receiver, entry: (log, entry) => receiver.entry(log, { ...entry, previous: 0 }) },
    }),
  },
  "append can start and stop following, with the entry itself": {
    methods: (engine) => ({
      append: (log, text, { keepMs, follow }) =>
        engine.append(log, text, { keepMs, follow: follow === "stop" ? undefined : follow }),
    }),
  },
  "append with onlyWith adds nothing unless the log has that value": {
    methods: (engine) => ({ append: (log, text, { keepMs }) => engine.append(log, text, { keepMs }) }),
  },
  "unfollow ends it": { methods: () => ({ unfollow: async () => {} }) },
  "removeLog removes every entry, and later numbers are greater": {
    methods: () => ({ removeLog: async () => {} }),
  },
  "a log expires after the time of its last entry": {
    methods: (engine) => ({ append: (log, text) => engine.append(log, text, { keepMs: 500 }) }),
  },
  "follow keeps a log for longer, and never for less": { methods: () => ({ follow: async () => {} }) },
  "a log keeps its newest 1000 entries": {
    methods: (engine) => ({ read: async (...given) => (await engine.read(...given)).slice(0, 999) }),
  },
  "a log keeps its newest 262144 bytes, not characters": {
    methods: (engine) => ({
      // Half as many characters have as many bytes, for an engine that counts those.
      append: (log, text, options) => engine.append(log, text.slice(0, text.length / 2), options),
      read: async (...given) =>
        (await engine.read(...given)).map(({ sequence, previous, text }) => {
          return { sequence, previous, text: text.repeat(2) };
        }),
    }),
  },
  "a log keeps its newest maxBytes, if those are fewer": {
    methods: (engine) => ({
      append: (log, text, options) => engine.append(log, text, { ...options, maxBytes: undefined }),
    }),
  },
  "append with isOnly drops all earlier entries, and does not begin the log again": {
    methods: (engine) => ({
      async append(log, text, { isOnly, ...options }) {
        if (isOnly) await engine.removeLog(log);
        return engine.append(log, text, options);
      },
    }),
  },
  "an entry may have 262144 bytes, and a third more when it is sealed; the newest one is always kept": {
    methods: (engine) => ({
      append: (log, text, options) => engine.append(log, text.slice(0, 262_144), options),
    }),
  },
  "an expired value can be created again, beside one of its kind that lives longer": {
    methods: (engine) => {
      const created = new Set<string>();
      return {
        async create(key, ...rest) {
          const name = `${key.kind} ${key.tag}`;
          if (created.has(name)) return undefined;
          created.add(name);
          return engine.create(key, ...rest);
        },
      };
    },
  },
  "a touched value is counted until its new time is over": {
    methods: (engine) => ({ count: async (kind) => Math.max((await engine.count(kind)) - 1, 0) }),
  },
  "a message to a node reaches that node alone, unchanged": {
    methods: (engine) => ({ send: (_, text) => engine.send("all", text) }),
  },
  "a message to all reaches every node once, the sender too": {
    join: ({ receiver }) => ({
      receiver: { ...receiver, message: (text) => [text, text].forEach((each) => receiver.message(each)) },
    }),
  },
  "messages of one sender arrive in their order": {
    join: ({ receiver }) => ({
      receiver: {
        ...receiver,
        message: (text) => void setTimeout(() => receiver.message(text), text.length % 3),
      },
    }),
  },
  "a message to an unknown node does nothing": {
    methods: (engine) => ({ send: (to, text) => engine.send(to === "nobody" ? "all" : to, text) }),
  },
  "a closed node receives nothing, and its engine rejects": { methods: () => ({ close: async () => {} }) },
  "close leaves values and logs to the others": {
    methods: (engine) => ({
      async close() {
        await engine.removeLog("a").catch(() => {});
        await engine.close();
      },
    }),
  },
  "two prefixes share nothing": { join: () => ({ prefix: "the same for all" }) },
};

function emptyIsNone<Value extends { readonly text: string }>(value: Value | undefined): Value | undefined {
  return value?.text === "" ? undefined : value;
}

function faulty({ methods, join }: Fault): Backplane {
  const good = memoryBackplane();
  return {
    ...good,
    async open(options) {
      const engine = await good.open({ ...options, ...join?.(options) });
      const changed = methods?.(engine) ?? {};
      return new Proxy(engine, {
        get: (_, name: keyof Engine) => changed[name] ?? engine[name].bind(engine as never),
      });
    },
  };
}

describe("backplaneContract finds an engine that breaks", () => {
  test.concurrent.each(Object.entries(faults))("%s", async (title, fault) => {
    const check = backplaneContract().find((one) => one.title === title);
    await expect(check?.run(() => faulty(fault))).rejects.toThrow();
  });
});
