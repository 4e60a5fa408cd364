// The backplane contract for logs.
import {
  type Engine,
  type LogEntry,
  maxEntryBytes,
  maxLogBytes,
  maxLogEntries,
} from "../../cluster/engine/engine.ts";
import { type ContractNodes, expectSame, settled, shortPause, until } from "./nodes.ts";
import { oddTags } from "./values.ts";

const kept = { keepMs: 60_000 };

/** Appends the texts in turn, and returns their sequence numbers. */
async function appendAll(engine: Engine, log: string, texts: readonly string[]): Promise<number[]> {
  const sequences: number[] = [];
  for (const text of texts) sequences.push(await engine.append(log, text, kept));
  return sequences;
}

function textsOf(entries: readonly LogEntry[]): string[] {
  return entries.map(({ text }) => text);
}

/** Each entry names the one before it, and has a greater number. */
function expectChain(entries: readonly LogEntry[]): void {
  entries.forEach(({ sequence, previous }, index) => {
    if (!Number.isSafeInteger(sequence) || sequence <= previous)
      throw new Error(`Entry ${sequence} comes after ${previous}: numbers must grow`);
    const before = entries[index - 1];
    if (before !== undefined) expectSame(previous, before.sequence);
  });
}

export const logChecks: Readonly<Record<string, (nodes: ContractNodes) => Promise<void>>> = {
  async "read returns the entries in order, and each names the one before it"(nodes) {
    const [one, other] = await nodes.openAll(2);
    const sequences = [
      ...(await appendAll(one!.engine, "a", ["1", "2"])),
      ...(await appendAll(other!.engine, "a", ["3", ""])),
    ];
    const entries = await other!.engine.read("a", 0);
    expectSame(textsOf(entries), ["1", "2", "3", ""]);
    expectSame(
      entries.map(({ sequence }) => sequence),
      sequences,
    );
    expectSame(entries[0]?.previous, 0);
    expectChain(entries);
  },

  async "read begins with the given number or the next greater one"(nodes) {
    const { engine } = await nodes.open();
    const [, second = 0, third = 0] = await appendAll(engine, "a", ["1", "2", "3"]);
    expectSame(textsOf(await engine.read("a", second)), ["2", "3"]);
    expectSame(textsOf(await engine.read("a", second + 1)), ["3"]);
    expectSame(await engine.read("a", third + 1), []);
    expectSame(await engine.read("unknown", 0), []);
  },

  async "logs are independent, whatever the characters of their names"(nodes) {
    const { engine, entriesOf } = await nodes.open();
    for (const [index, log] of oddTags.entries()) {
      await engine.append(log, `entry ${index}`, { ...kept, follow: "start" });
    }
    for (const [index, log] of oddTags.entries()) {
      expectSame(textsOf(await engine.read(log, 0)), [`entry ${index}`]);
      await until("an entry arrives", () => entriesOf(log).length > 0);
      expectSame(textsOf(entriesOf(log)), [`entry ${index}`]);
    }
  },

  async "concurrent appends of two nodes get numbers of their own"(nodes) {
    const opened = await nodes.openAll(2);
    for (const { engine } of opened) await engine.follow(["a"], 60_000);
    const texts = Array.from({ length: 50 }, (_, index) => `entry ${index}`);
    const sequences = await Promise.all(
      texts.map((text, index) => opened[index % 2]!.engine.append("a", text, kept)),
    );
    expectSame(new Set(sequences).size, texts.length);
    const entries = await opened[0]!.engine.read("a", 0);
    expectChain(entries);
    for (const [index, text] of texts.entries()) {
      expectSame(entries.find(({ sequence }) => sequence === sequences[index])?.text, text);
    }
    for (const node of opened) {
      await until("every entry arrives", () => node.entriesOf("a").length === texts.length);
      const arrived = node.entriesOf("a").toSorted((a, b) => a.sequence - b.sequence);
      expectSame(arrived, entries);
    }
  },

  async "follow passes on what any node appends from then on, the same as read returns it"(nodes) {
    const opened = await nodes.openAll(3);
    const [one, other, idle] = opened;
    await one!.engine.append("a", "before", kept);
    await one!.engine.follow(["a"], 60_000);
    await other!.engine.follow(["a"], 60_000);
    await other!.engine.follow(["a"], 60_000);
    await appendAll(one!.engine, "a", ["1", "ünï\r\n🙂"]);
    await appendAll(idle!.engine, "a", [" 3 4 5"]);
    await appendAll(one!.engine, "another", ["x"]);
    const entries = (await one!.engine.read("a", 0)).slice(1);
    expectSame(textsOf(entries), ["1", "ünï\r\n🙂", " 3 4 5"]);
    for (const node of [one!, other!]) {
      await until("three entries arrive", () => node.entriesOf("a").length === 3);
    }
    await settled(one!, ...opened);
    for (const node of [one!, other!]) expectSame(node.entriesOf("a"), entries);
    expectSame(idle!.entriesOf("a"), []);
    expectSame(one!.entriesOf("another"), []);
  },

  async "append can start and stop following, with the entry itself"(nodes) {
    const opened = await nodes.openAll(2);
    const [one, other] = opened;
    await one!.engine.append("a", "1", { ...kept, follow: "start" });
    await other!.engine.append("a", "2", { ...kept, follow: "start" });
    await one!.engine.append("a", "3", { ...kept, follow: "stop" });
    await other!.engine.append("a", "4", kept);
    await until("three entries arrive", () => other!.entriesOf("a").length === 3);
    await until("three entries arrive", () => one!.entriesOf("a").length >= 3);
    await settled(other!, ...opened);
    expectSame(textsOf(one!.entriesOf("a")), ["1", "2", "3"]);
    expectSame(textsOf(other!.entriesOf("a")), ["2", "3", "4"]);
  },

  async "append with onlyWith adds nothing unless the log has that value"(nodes) {
    const { engine } = await nodes.open();
    const withSession = { ...kept, onlyWith: "session" } as const;
    await engine.create({ kind: "task", tag: "a" }, "value", 60_000);
    expectSame(await engine.append("a", "1", withSession), 0);
    await engine.create({ kind: "session", tag: "a" }, "value", 60_000);
    const sequence = await engine.append("a", "2", withSession);
    expectSame(await engine.append("b", "3", withSession), 0);
    await engine.remove({ kind: "session", tag: "a" });
    expectSame(await engine.append("a", "4", withSession), 0);
    expectSame(await engine.read("a", 0), [{ sequence, previous: 0, text: "2" }]);
    expectSame(await engine.read("b", 0), []);
  },

  async "unfollow ends it"(nodes) {
    const { engine, entriesOf, ...node } = await nodes.open();
    await engine.unfollow("a");
    await engine.follow(["a"], 60_000);
    await engine.append("a", "1", kept);
    await until("an entry arrives", () => entriesOf("a").length === 1);
    await engine.unfollow("a");
    await engine.append("a", "2", kept);
    const self = { engine, entriesOf, ...node };
    await settled(self, self);
    expectSame(textsOf(entriesOf("a")), ["1"]);
  },

  async "removeLog removes every entry, and later numbers are greater"(nodes) {
    const [one, other] = await nodes.openAll(2);
    const earlier = await appendAll(one!.engine, "a", ["1", "2", "3"]);
    await appendAll(one!.engine, "another", ["x"]);
    await other!.engine.removeLog("a");
    await other!.engine.removeLog("a");
    expectSame(await one!.engine.read("a", 0), []);
    expectSame(textsOf(await one!.engine.read("another", 0)), ["x"]);
    const later = await one!.engine.append("a", "4", kept);
    expectSame(later > Math.max(...earlier), true);
    expectSame(textsOf(await other!.engine.read("a", 0)), ["4"]);
  },

  async "a log expires after the time of its last entry"(nodes) {
    const { engine } = await nodes.open();
    await engine.append("short", "1", kept);
    await engine.append("short", "2", { keepMs: 50 });
    await engine.append("long", "1", { keepMs: 1500 });
    await engine.append("long", "2", kept);
    await engine.append("brief", "1", { keepMs: 1500 });
    await until("a log expires", async () => (await engine.read("short", 0)).length === 0);
    await until("a log expires", async () => (await engine.read("brief", 0)).length === 0);
    expectSame(textsOf(await engine.read("long", 0)), ["1", "2"]);
  },

  async "follow keeps a log for longer, and never for less"(nodes) {
    const { engine } = await nodes.open();
    for (const log of ["longer", "same", "brief"]) await engine.append(log, "1", { keepMs: 1500 });
    await engine.append("same", "2", kept);
    await engine.follow(["longer"], 60_000);
    await engine.follow(["same", "unknown"], 50);
    await until("a log expires", async () => (await engine.read("brief", 0)).length === 0);
    expectSame(textsOf(await engine.read("longer", 0)), ["1"]);
    expectSame(textsOf(await engine.read("same", 0)), ["1", "2"]);
    expectSame(await engine.read("unknown", 0), []);
  },

  async "a node follows a log that does not exist yet, or that expired"(nodes) {
    const { engine, entriesOf } = await nodes.open();
    await engine.follow(["a"], 60_000);
    await engine.append("a", "1", { keepMs: 50 });
    await until("the log expires", async () => (await engine.read("a", 0)).length === 0);
    await shortPause(50);
    await engine.append("a", "2", kept);
    await until("both entries arrive", () => entriesOf("a").length === 2);
    expectSame(textsOf(entriesOf("a")), ["1", "2"]);
    const [first, second] = entriesOf("a");
    expectSame(second!.sequence > first!.sequence, true);
  },

  async "a log keeps its newest 1000 entries"(nodes) {
    const { engine } = await nodes.open();
    const texts = Array.from({ length: maxLogEntries + 20 }, (_, index) => `entry ${index}`);
    for (let from = 0; from < texts.length; from += 100) {
      await Promise.all(texts.slice(from, from + 100).map((text) => engine.append("a", text, kept)));
    }
    const last = await engine.append("a", "last", kept);
    const entries = await engine.read("a", 0);
    expectSame(entries.length, maxLogEntries);
    expectSame(entries.at(-1), { sequence: last, previous: entries.at(-2)?.sequence, text: "last" });
    expectSame((entries[0]?.previous ?? 0) > 0, true);
    expectChain(entries);
  },

  async "a log keeps its newest 262144 bytes, not characters"(nodes) {
    const [one, other] = await nodes.openAll(2);
    const texts = ["ä", "ö", "ü", "ß", "à", "é"].map((letter) => letter.repeat(maxLogBytes / 8));
    for (const [index, text] of texts.entries()) {
      const node = index % 2 ? one! : other!;
      await node.engine.append("a", text, kept);
    }
    const last = await one!.engine.append("a", "", kept);
    for (const { engine } of [one!, other!]) {
      const entries = await engine.read("a", 0);
      expectSame(
        entries.map(({ text }) => text === "" || texts.slice(-4).includes(text)),
        [true, true, true, true, true],
      );
      expectSame(entries.at(-1)?.sequence, last);
      expectSame((entries[0]?.previous ?? 0) > 0, true);
      expectChain(entries);
    }
  },

  async "a log keeps its newest maxBytes, if those are fewer"(nodes) {
    const [one, other] = await nodes.openAll(2);
    const options = { ...kept, maxBytes: 1000 };
    for (let index = 0; index < 20; index++) {
      const { engine } = index % 2 ? one! : other!;
      await engine.append("a", `${index} `.padEnd(240, "ä"), options);
    }
    for (const { engine } of [one!, other!]) {
      const entries = await engine.read("a", 0);
      expectSame(
        entries.map(({ text }) => text.split(" ")[0]),
        ["18", "19"],
      );
      expectSame((entries[0]?.previous ?? 0) > 0, true);
      expectChain(entries);
    }
  },

  async "append with isOnly drops all earlier entries, and does not begin the log again"(nodes) {
    const [one, other, third] = await nodes.openAll(3);
    await other!.engine.follow(["a"], 60_000);
    const [, second] = await appendAll(one!.engine, "a", ["1", "x".repeat(100_000)]);
    await appendAll(one!.engine, "another", ["1", "2"]);
    const sequence = await third!.engine.append("a", "", { ...kept, isOnly: true });
    const entries = await one!.engine.read("a", 0);
    expectSame(entries.length, 1);
    expectSame({ ...entries[0], previous: 0 }, { sequence, previous: 0, text: "" });
    // The exact number before it may be lost with that entry, but it must not look like the first of the log.
    expectSame((entries[0]?.previous ?? 0) > 0, true);
    expectSame((entries[0]?.previous ?? 0) <= (second ?? 0), true);
    await appendAll(one!.engine, "a", ["4"]);
    await until("four entries arrive", () => other!.entriesOf("a").length === 4);
    expectChain(other!.entriesOf("a"));
    expectSame(textsOf(await other!.engine.read("a", 0)), ["", "4"]);
    expectChain(await one!.engine.read("a", 0));
    expectSame(textsOf(await one!.engine.read("another", 0)), ["1", "2"]);
  },

  async "an entry may have 262144 bytes, and a third more when it is sealed; the newest one is always kept"(
    nodes,
  ) {
    const { engine, entriesOf } = await nodes.open();
    await engine.follow(["a"], 60_000);
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(Math.ceil((maxEntryBytes * 4) / 3) + 1000));
    await appendAll(engine, "a", texts);
    await until("three entries arrive", () => entriesOf("a").length === 3);
    expectSame(
      entriesOf("a").map(({ text }, index) => text === texts[index]),
      [true, true, true],
    );
    const entries = await engine.read("a", 0);
    expectSame(entries.length, 1);
    expectSame(entries.at(-1)?.text === texts[2], true);
    expectChain(entries);
  },
};
