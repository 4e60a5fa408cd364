// The backplane contract for values.
import type { Engine, ValueKey } from "../../cluster/engine/engine.ts";
import { type ContractNodes, expectSame, until } from "./nodes.ts";

const long = 60_000;
/** Long enough for a few calls of a remote engine on a busy machine. */
const brief = 1500;

/** Tags that an engine must escape, or must not confuse with each other. */
export const oddTags: readonly string[] = [
  "plain",
  "Plain",
  "",
  " ",
  "two words",
  "{braces}",
  "}{",
  "a.b",
  "a.*",
  "a.>",
  "*",
  ">",
  "$",
  "a/b\\c",
  "a:b",
  "a%20b",
  "%",
  "=",
  "line\r\nbreak\0",
  "ünï 🙂",
  "\ud800",
  "__proto__",
  "constructor",
  "x".repeat(4096),
  `${"x".repeat(4096)}y`,
];

/** A value of the kind that most checks use. */
function session(tag: string): ValueKey {
  return { kind: "session", tag };
}

async function expectText(engine: Engine, key: ValueKey, text: string | undefined): Promise<void> {
  expectSame((await engine.get(key))?.text, text);
}

async function create(engine: Engine, key: ValueKey, text: string, ttlMs?: number): Promise<string> {
  const version = await engine.create(key, text, ttlMs);
  if (version === undefined) throw new Error(`create of ${key.kind} did not create`);
  return version;
}

export const valueChecks: Readonly<Record<string, (nodes: ContractNodes) => Promise<void>>> = {
  async "get returns what another node created, with its version"(nodes) {
    const [one, other] = await pairOf(nodes);
    const version = await create(one, session("a"), '{"text":"ünï\\n🙂"}', long);
    expectSame(await other.get(session("a")), { text: '{"text":"ünï\\n🙂"}', version });
    expectSame(await other.get(session("b")), undefined);
  },

  async "an empty text is a value"(nodes) {
    const { engine } = await nodes.open();
    await create(engine, session("a"), "", long);
    await expectText(engine, session("a"), "");
    expectSame(await engine.create(session("a"), "again", long), undefined);
  },

  async "a text may have a megabyte less its overhead"(nodes) {
    const { engine } = await nodes.open();
    const text = "x".repeat(900_000);
    await create(engine, session("a"), text, long);
    expectSame((await engine.get(session("a")))?.text === text, true);
  },

  async "one of many concurrent creates succeeds"(nodes) {
    const opened = await nodes.openAll(3);
    const attempts = Array.from({ length: 30 }, (_, index) => String(index));
    const versions = await Promise.all(
      attempts.map((text, index) =>
        opened[index % opened.length]?.engine.create(session("a"), text, index % 2 ? long : undefined),
      ),
    );
    const created = versions.flatMap((version, index) => (version === undefined ? [] : [index]));
    expectSame(created.length, 1);
    await expectText(opened[0]!.engine, session("a"), String(created[0]));
  },

  async "replace needs the version, which every change replaces"(nodes) {
    const [one, other] = await pairOf(nodes);
    const first = await create(one, session("a"), "1", long);
    expectSame(await other.replace(session("a"), "2", long, "0"), undefined);
    const second = await other.replace(session("a"), "2", long, first);
    expectSame(await one.get(session("a")), { text: "2", version: second });
    expectSame(await one.replace(session("a"), "3", long, first), undefined);
    await expectText(one, session("a"), "2");
    const third = await one.replace(session("a"), "2", long, second ?? "");
    expectSame(new Set([first, second, third, undefined]).size, 4);
  },

  async "one of many concurrent replaces of a version succeeds"(nodes) {
    const opened = await nodes.openAll(3);
    const version = await create(opened[0]!.engine, session("a"), "first", long);
    const versions = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        opened[index % opened.length]?.engine.replace(session("a"), String(index), long, version),
      ),
    );
    expectSame(versions.filter((found) => found !== undefined).length, 1);
  },

  async "a removed value can be created again, but not replaced"(nodes) {
    const [one, other] = await pairOf(nodes);
    const first = await create(one, session("a"), "1", long);
    await other.remove(session("a"));
    await other.remove(session("a"));
    await expectText(one, session("a"), undefined);
    expectSame(await one.replace(session("a"), "2", long, first), undefined);
    await expectText(one, session("a"), undefined);
    const second = await create(one, session("a"), "1", long);
    expectSame(first === second, false);
    expectSame(await other.replace(session("a"), "2", long, first), undefined);
  },

  async "a value expires after its time, and one without a time stays"(nodes) {
    const { engine } = await nodes.open();
    await create(engine, session("for ever"), "kept");
    await create(engine, session("long"), "kept", long);
    const version = await create(engine, session("short"), "gone", 50);
    await until("a value expires", async () => (await engine.get(session("short"))) === undefined);
    expectSame(await engine.replace(session("short"), "again", long, version), undefined);
    await expectText(engine, session("for ever"), "kept");
    await expectText(engine, session("long"), "kept");
    await create(engine, session("short"), "again", long);
    await expectText(engine, session("short"), "again");
  },

  async "an expired value can be created again, beside one of its kind that lives longer"(nodes) {
    const { engine } = await nodes.open();
    for (const kind of ["mark", "owner", "session"] as const) {
      await create(engine, { kind, tag: "long" }, "kept", long);
      await create(engine, { kind, tag: "short" }, "gone", 50);
      const key = { kind, tag: "short" } as const;
      await until("a value can be created again", async () => {
        return (await engine.create(key, "again", long)) !== undefined;
      });
      await expectText(engine, key, "again");
      expectSame(await engine.create(key, "twice", long), undefined);
    }
  },

  async "replace starts the time again, and may take it away"(nodes) {
    const { engine } = await nodes.open();
    const restarted = await create(engine, session("restarted"), "1", brief);
    const freed = await create(engine, session("freed"), "1", brief);
    const shortened = await create(engine, session("shortened"), "1");
    await engine.replace(session("restarted"), "2", long, restarted);
    await engine.replace(session("freed"), "2", undefined, freed);
    await engine.replace(session("shortened"), "2", brief, shortened);
    await until("a value expires", async () => (await engine.get(session("shortened"))) === undefined);
    await expectText(engine, session("restarted"), "2");
    await expectText(engine, session("freed"), "2");
  },

  async "touch starts the time again, and brings nothing back"(nodes) {
    const [one, other] = await pairOf(nodes);
    await create(one, session("removed"), "1", long);
    await one.remove(session("removed"));
    await create(one, session("touched"), "1", brief);
    await create(one, session("left"), "1", brief);
    await other.touch([session("touched"), session("removed"), session("unknown")], long);
    await other.touch([], long);
    await until("a value expires", async () => (await one.get(session("left"))) === undefined);
    await expectText(one, session("touched"), "1");
    await expectText(one, session("removed"), undefined);
    await expectText(one, session("unknown"), undefined);
  },

  async "a value can be replaced with the version that get returns after a touch"(nodes) {
    const { engine } = await nodes.open();
    await create(engine, session("a"), "1", long);
    await engine.touch([session("a")], long);
    const found = await engine.get(session("a"));
    expectSame((await engine.replace(session("a"), "2", long, found?.version ?? "")) === undefined, false);
  },

  async "tags are independent, whatever their characters"(nodes) {
    const { engine } = await nodes.open();
    for (const [index, tag] of oddTags.entries()) await create(engine, session(tag), `value ${index}`, long);
    for (const [index, tag] of oddTags.entries()) await expectText(engine, session(tag), `value ${index}`);
    for (const tag of oddTags) await engine.remove(session(tag));
    for (const tag of oddTags) await expectText(engine, session(tag), undefined);
  },

  async "kinds are independent"(nodes) {
    const { engine } = await nodes.open();
    const kinds = ["session", "owner", "task", "task-list", "mark", "node", "key"] as const;
    for (const kind of kinds) await create(engine, { kind, tag: "a" }, kind, long);
    await engine.remove({ kind: "task", tag: "a" });
    for (const kind of kinds) {
      await expectText(engine, { kind, tag: "a" }, kind === "task" ? undefined : kind);
    }
  },

  async "count is the number of values, without the removed and expired ones"(nodes) {
    const [one, other] = await pairOf(nodes);
    expectSame(await one.count("session"), 0);
    for (const tag of ["a", "b", "c"]) await create(one, session(tag), tag, long);
    await create(one, { kind: "mark", tag: "a" }, "", long);
    expectSame(await one.create(session("a"), "again", long), undefined);
    await create(other, session("short"), "", 50);
    await other.remove(session("b"));
    await other.remove(session("unknown"));
    await other.touch([session("a"), session("unknown")], long);
    await until("count falls to 2", async () => (await one.count("session")) === 2);
    expectSame(await other.count("session"), 2);
  },

  async "a touched value is counted until its new time is over"(nodes) {
    const [one, other] = await pairOf(nodes);
    await create(one, session("long"), "", long);
    for (const tag of ["touched", "left"]) await create(one, session(tag), "", brief);
    await other.touch([session("touched")], long);
    await until("a value expires", async () => (await one.get(session("left"))) === undefined);
    await until("count falls to 2", async () => (await one.count("session")) <= 2);
    expectSame(await one.count("session"), 2);
    expectSame(await other.count("session"), 2);
  },
};

async function pairOf(nodes: ContractNodes): Promise<[Engine, Engine]> {
  return [(await nodes.open()).engine, (await nodes.open()).engine];
}
