// The backplane contract for messages between nodes.
import { type ContractNodes, expectSame, settled, until } from "./nodes.ts";

const texts = ["", "plain", "ünï 🙂\r\n\0", '{"json":[1,2]}', "x".repeat(300_000)];

export const messageChecks: Readonly<Record<string, (nodes: ContractNodes) => Promise<void>>> = {
  async "a message to a node reaches that node alone, unchanged"(nodes) {
    const opened = await nodes.openAll(3);
    const [one, other, third] = opened;
    for (const text of texts) await one!.engine.send(other!.id, text);
    await one!.engine.send(one!.id, "to myself");
    await settled(one!, ...opened);
    expectSame(other!.messages, texts);
    expectSame(one!.messages, ["to myself"]);
    expectSame(third!.messages, []);
  },

  async "a message to all reaches every node once, the sender too"(nodes) {
    const opened = await nodes.openAll(3);
    await opened[0]!.engine.send("all", "hello");
    await settled(opened[0]!, ...opened);
    for (const { messages } of opened) expectSame(messages, ["hello"]);
  },

  async "messages of one sender arrive in their order"(nodes) {
    const opened = await nodes.openAll(2);
    const [one, other] = opened;
    const sent = Array.from({ length: 200 }, (_, index) => String(index));
    await Promise.all(sent.map((text) => one!.engine.send(other!.id, text)));
    await settled(one!, ...opened);
    expectSame(other!.messages, sent);
  },

  async "a message to an unknown node does nothing"(nodes) {
    const node = await nodes.open();
    await node.engine.send("nobody", "hello");
    await node.engine.send("a.> *\r\n{b}", "hello");
    await settled(node, node);
    expectSame(node.messages, []);
  },

  async "a closed node receives nothing, and its engine rejects"(nodes) {
    const [one, closed, other] = await nodes.openAll(3);
    await closed!.engine.follow(["a"], 60_000);
    await closed!.engine.close();
    await closed!.engine.close();
    await one!.engine.send(closed!.id, "hello");
    await one!.engine.send("all", "hello");
    await one!.engine.append("a", "1", { keepMs: 60_000 });
    await settled(one!, one!, other!);
    expectSame(closed!.messages, []);
    expectSame(closed!.entriesOf("a"), []);
    const outcome = await closed!.engine.send("all", "hello").catch(() => "rejected");
    expectSame(outcome, "rejected");
    expectSame(other!.messages, ["hello"]);
  },

  async "close leaves values and logs to the others"(nodes) {
    const [one, other] = await nodes.openAll(2);
    await one!.engine.create({ kind: "session", tag: "a" }, "kept", 60_000);
    await one!.engine.append("a", "kept", { keepMs: 60_000 });
    await one!.engine.close();
    expectSame((await other!.engine.get({ kind: "session", tag: "a" }))?.text, "kept");
    expectSame((await other!.engine.read("a", 0)).length, 1);
  },

  async "two prefixes share nothing"(nodes) {
    const [one, other] = [await nodes.open(), await nodes.open("other")];
    const key = { kind: "session", tag: "a" } as const;
    await one.engine.create(key, "one", 60_000);
    expectSame(await other.engine.get(key), undefined);
    expectSame(await other.engine.count("session"), 0);
    await other.engine.create(key, "other", 60_000);
    await other.engine.remove(key);
    expectSame((await one.engine.get(key))?.text, "one");
    await other.engine.follow(["a"], 60_000);
    await one.engine.append("a", "1", { keepMs: 60_000, follow: "start" });
    expectSame(await other.engine.read("a", 0), []);
    await one.engine.send("all", "hello");
    await one.engine.send(other.id, "hello");
    await settled(other, other);
    await settled(one, one);
    await until("an entry arrives", () => one.entriesOf("a").length === 1);
    expectSame(other.messages, []);
    expectSame(other.entriesOf("a"), []);
  },
};
