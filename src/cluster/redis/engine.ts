// The engine on Redis: values are strings, logs are lists, messages are published.
import {
  type AppendOptions,
  type CountedKind,
  type Engine,
  type EngineJoin,
  type EngineReceiver,
  type LogEntry,
  maxLogBytes,
  maxLogEntries,
  type StoredValue,
  type ValueKey,
  type ValueKind,
} from "../engine/engine.ts";
import type { Logger } from "../../base/logging/logger.ts";
import { randomId } from "../../base/wire/crypto.ts";
import type { Commands, Connector, Subscriber } from "./connection.ts";
import { RedisLink } from "./link.ts";
import { decodeTag, encodeTag, RedisNames } from "./names.ts";
import { type ScriptCall, type ScriptName, Scripts } from "./scripts.ts";
import { checkServer, evictionWarning, readServerInfo } from "./server-info.ts";

/** How long a node follows a log after the entry with which it began. */
const followMs = 3_600_000;

/** How many commands are sent together when there are many. */
const batchSize = 500;

const counted: ReadonlySet<ValueKind> = new Set<CountedKind>(["session", "task"]);

export class RedisEngine implements Engine {
  readonly #names: RedisNames;
  readonly #node: string;
  readonly #logger: Logger;
  readonly #scripts: Scripts;
  readonly #link: RedisLink;
  /** The logs that this node follows, to follow them again on new connections. */
  readonly #followed = new Set<string>();
  #receiver: EngineReceiver | undefined;
  /** How many messages were received. */
  #received = 0;
  #isExpecting = false;
  #hasWarned = false;

  private constructor(
    connector: Connector,
    { prefix, node, receiver, logger }: EngineJoin,
    scripts: Scripts,
  ) {
    this.#names = new RedisNames(prefix);
    this.#node = node;
    this.#receiver = receiver;
    this.#logger = logger;
    this.#scripts = scripts;
    this.#link = new RedisLink(connector, {
      prepare: (commands, subscriber) => this.#prepare(commands, subscriber, connector.isCluster),
      lost: (error) => this.#receiver?.lost(error),
      back: () => this.#receiver?.back(),
    });
  }

  static async open(connector: Connector, options: EngineJoin): Promise<RedisEngine> {
    const engine = new RedisEngine(connector, options, await Scripts.hash());
    await engine.#link.open();
    return engine;
  }

  async get(key: ValueKey): Promise<StoredValue | undefined> {
    const name = this.#names.value(key);
    const value = await this.#call(name, ["GET", name]);
    if (typeof value !== "string") return undefined;
    const at = value.indexOf(" ");
    return { version: value.slice(0, at), text: value.slice(at + 1) };
  }

  async create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    const name = this.#names.value(key);
    const version = randomId(12);
    const expiry = ttlMs === undefined ? [] : ["PX", wholeMs(ttlMs)];
    const reply = await this.#call(name, ["SET", name, `${version} ${text}`, "NX", ...expiry]);
    if (reply === null) return undefined;
    await this.#index("CH", [key], ttlMs);
    return version;
  }

  async replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    const next = randomId(12);
    const args = [`${version} `, `${next} ${text}`, ttlMs === undefined ? "" : wholeMs(ttlMs)];
    const reply = await this.#run("replace", [this.#names.value(key)], args);
    if (reply !== 1) return undefined;
    await this.#index("CH", [key], ttlMs);
    return next;
  }

  async touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    await inBatches(keys, (key) => {
      const name = this.#names.value(key);
      return this.#call(name, ["PEXPIRE", name, wholeMs(ttlMs)]);
    });
    await this.#index("XX", keys, ttlMs);
  }

  async remove(key: ValueKey): Promise<void> {
    const [name, index] = [this.#names.value(key), this.#names.index(key.kind)];
    await this.#call(name, ["DEL", name]);
    if (counted.has(key.kind)) await this.#call(index, ["ZREM", index, encodeTag(key.tag)]);
  }

  async count(kind: CountedKind): Promise<number> {
    return Number(await this.#run("index", [this.#names.index(kind)], ["CH", ""]));
  }

  async append(log: string, text: string, options: AppendOptions): Promise<number> {
    const { keepMs, follow, onlyWith, isOnly, maxBytes = maxLogBytes } = options;
    const [entries, followers] = this.#names.log(log);
    const needed = onlyWith === undefined ? [] : [this.#names.value({ kind: onlyWith, tag: log })];
    const limits = [wholeMs(keepMs), isOnly ? 1 : maxLogEntries, Math.min(maxBytes, maxLogBytes)];
    const following = [this.#node, follow ?? "", followMs, this.#names.nodes, encodeTag(log)];
    const args = [text, ...limits, ...following];
    const sequence = Number(await this.#run("append", [entries, followers, ...needed], args));
    if (sequence === 0) return 0;
    if (follow === "start") this.#followed.add(log);
    if (follow === "stop") this.#followed.delete(log);
    return sequence;
  }

  async read(log: string, from: number): Promise<readonly LogEntry[]> {
    const entries = (await this.#run("read", this.#names.log(log), [from])) as string[];
    return entries.map((entry) => {
      const [sequence, previous, , text] = fieldsOf(entry);
      return { sequence: Number(sequence), previous: Number(previous), text };
    });
  }

  async follow(logs: readonly string[], keepMs: number): Promise<void> {
    await this.#follow((key, command) => this.#call(key, command), logs, keepMs);
    for (const log of logs) this.#followed.add(log);
  }

  async unfollow(log: string): Promise<void> {
    this.#followed.delete(log);
    const [, followers] = this.#names.log(log);
    await this.#call(followers, ["ZREM", followers, this.#node]);
  }

  async removeLog(log: string): Promise<void> {
    const [entries] = this.#names.log(log);
    await this.#call(entries, ["DEL", entries]);
  }

  async send(to: string, text: string): Promise<void> {
    const channel = this.#names.channel(to);
    await this.#call(channel, ["PUBLISH", channel, `m${text}`]);
    if (to === "all") this.#expectMessage();
  }

  /** Always the same, because sequence numbers are times, which continue after any loss. */
  async isSame(): Promise<boolean> {
    return true;
  }

  renew(error: Error): void {
    this.#link.renew(error);
  }

  async close(): Promise<void> {
    this.#receiver = undefined;
    this.#link.close();
  }

  async #prepare(commands: Commands, subscriber: Subscriber, isCluster: boolean): Promise<void> {
    const info = await readServerInfo(subscriber);
    checkServer(info, isCluster);
    const warning = evictionWarning(info);
    if (warning !== undefined && !this.#hasWarned) this.#logger.warn(warning);
    this.#hasWarned ||= warning !== undefined;
    const channels = [this.#names.channel(this.#node), this.#names.channel("all")];
    await subscriber.subscribe(channels, (text) => this.#receive(text));
    await this.#follow((key, command) => commands.call(key, command), [...this.#followed], followMs);
  }

  /**
   * Checks that a message to all nodes also arrives here. If it does not, the receiving connection is dead, although it reported
   * no error.
   */
  #expectMessage(): void {
    if (this.#isExpecting) return;
    this.#isExpecting = true;
    const before = this.#received;
    void this.#link.expectMessage(() => this.#received > before).finally(() => (this.#isExpecting = false));
  }

  /** A message is `m<text>`, an entry `e<sequence> <previous> <log> <text>`. */
  #receive(received: string): void {
    this.#received++;
    if (received.startsWith("m")) return this.#receiver?.message(received.slice(1));
    const [sequence, previous, log, text] = fieldsOf(received.slice(1));
    this.#receiver?.entry(decodeTag(log), { sequence: Number(sequence), previous: Number(previous), text });
  }

  async #follow(call: ScriptCall, logs: readonly string[], keepMs: number): Promise<void> {
    const args = [this.#node, wholeMs(keepMs)];
    await inBatches(logs, (log) => this.#scripts.run(call, "follow", this.#names.log(log), args));
  }

  /** Updates the index of the kinds that are counted. */
  async #index(flag: "CH" | "XX", keys: readonly ValueKey[], ttlMs: number | undefined): Promise<void> {
    for (const kind of counted) {
      const tags = keys.filter((key) => key.kind === kind).map(({ tag }) => encodeTag(tag));
      if (tags.length === 0) continue;
      const expiry = ttlMs === undefined ? "" : wholeMs(ttlMs);
      await this.#run("index", [this.#names.index(kind)], [flag, expiry, ...tags]);
    }
  }

  #call(key: string, command: readonly string[]): Promise<unknown> {
    return this.#link.call(key, command);
  }

  #run(
    name: ScriptName,
    keys: readonly [string, ...string[]],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.#scripts.run((key, command) => this.#link.call(key, command), name, keys, args);
  }
}

/** Three fields that end with a space each, and the rest. */
function fieldsOf(text: string): [string, string, string, string] {
  const [first = "", second = "", third = ""] = text.split(" ", 3);
  return [first, second, third, text.slice(first.length + second.length + third.length + 3)];
}

/** Redis takes whole milliseconds, at least one. */
function wholeMs(timeMs: number): string {
  return String(Math.max(1, Math.ceil(timeMs)));
}

async function inBatches<T>(items: readonly T[], send: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += batchSize) {
    await Promise.all(items.slice(from, from + batchSize).map(send));
  }
}
