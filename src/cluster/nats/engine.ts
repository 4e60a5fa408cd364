// The engine on NATS: values and logs in JetStream, messages between nodes on subjects that nothing stores.
import type {
  AppendOptions,
  CountedKind,
  Engine,
  EngineJoin,
  LogEntry,
  StoredValue,
  ValueKey,
} from "../engine/engine.ts";
import { pauseInBackground } from "../../base/async/timers.ts";
import { EngineClock } from "./clock.ts";
import { type NatsConnection, reconnectProblem, unusable } from "./connection.ts";
import { apiErrors, isNoResponders, JetStream } from "./jetstream.ts";
import { NatsLink } from "./link.ts";
import { Logs } from "./logs.ts";
import { NatsNames, tokenOf } from "./names.ts";
import { Values } from "./values.ts";

/** The oldest server version with everything that the engine needs. */
const [oldestMajor, oldestMinor] = [2, 9];

/** Between attempts to use a stream that another node may be creating, in milliseconds. */
const [shortestPauseMs, longestPauseMs] = [5, 500];

export class NatsEngine implements Engine {
  readonly #link: NatsLink;
  readonly #jetstream: JetStream;
  readonly #names: NatsNames;
  readonly #clock: EngineClock;
  readonly #values: Values;
  readonly #logs: Logs;

  private constructor(connection: NatsConnection, join: EngineJoin, names: NatsNames) {
    const { receiver, logger } = join;
    this.#names = names;
    this.#link = new NatsLink({ connection, receiver, logger, prepare: () => this.#prepare() });
    const [link, jetstream] = [this.#link, new JetStream(this.#link)];
    this.#jetstream = jetstream;
    this.#clock = new EngineClock(() => this.#logs.stamp());
    const clock = this.#clock;
    const entry = (log: string, appended: LogEntry): void => receiver.entry(log, appended);
    this.#values = new Values(jetstream, clock, names);
    this.#logs = new Logs({ link, jetstream, clock, names, node: join.node, entry });
  }

  static async open(connection: NatsConnection, join: EngineJoin): Promise<NatsEngine> {
    checkVersion(connection);
    const warning = reconnectProblem(connection);
    if (warning !== undefined) join.logger.warn(warning);
    const engine = new NatsEngine(connection, join, await NatsNames.of(join.prefix));
    try {
      await engine.#open(join);
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  async get(key: ValueKey): Promise<StoredValue | undefined> {
    this.#link.check();
    return this.#values.get(key);
  }

  async create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    this.#link.check();
    return this.#values.create(key, text, ttlMs);
  }

  async replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    this.#link.check();
    return this.#values.replace(key, text, ttlMs, version);
  }

  async touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    this.#link.check();
    return this.#values.touch(keys, ttlMs);
  }

  async remove(key: ValueKey): Promise<void> {
    this.#link.check();
    return this.#values.remove(key);
  }

  async count(kind: CountedKind): Promise<number> {
    this.#link.check();
    return this.#values.count(kind);
  }

  async append(log: string, text: string, options: AppendOptions): Promise<number> {
    this.#link.check();
    const { onlyWith } = options;
    if (onlyWith && (await this.#values.get({ kind: onlyWith, tag: log })) === undefined) return 0;
    return this.#logs.append(log, text, options);
  }

  async read(log: string, from: number): Promise<readonly LogEntry[]> {
    this.#link.check();
    return this.#logs.read(log, from);
  }

  async follow(logs: readonly string[], keepMs: number): Promise<void> {
    this.#link.check();
    return this.#logs.follow(logs, keepMs);
  }

  async unfollow(log: string): Promise<void> {
    this.#logs.unfollow(log);
    this.#link.check();
  }

  async removeLog(log: string): Promise<void> {
    this.#link.check();
    return this.#logs.removeLog(log);
  }

  async send(to: string, text: string): Promise<void> {
    this.#link.check();
    const subject = to === "all" ? this.#names.subject("all") : await this.#nodeSubject(to);
    this.#link.publish(subject, new TextEncoder().encode(text));
  }

  async isSame(): Promise<boolean> {
    this.#link.check();
    const streams = [...this.#values.streams, ...this.#logs.streams];
    const areSame = await Promise.all(streams.map((stream) => stream.isSame()));
    return areSame.every(Boolean);
  }

  renew(error: Error): void {
    this.#link.interrupt(error);
  }

  async close(): Promise<void> {
    for (const part of [this.#values, this.#logs]) part.forget();
    this.#link.close();
  }

  async #open({ node, receiver }: EngineJoin): Promise<void> {
    for (const subject of [this.#names.subject("all"), await this.#nodeSubject(node)]) {
      this.#link.subscribe(subject, ({ data }) => receiver.message(new TextDecoder().decode(data)));
    }
    await this.#link.open();
  }

  async #nodeSubject(node: string): Promise<string> {
    return this.#names.subject("node", await tokenOf(node));
  }

  async #prepare(): Promise<void> {
    for (const part of [this.#values, this.#logs]) part.forget();
    await this.#checkJetStream();
    const streams = [...this.#values.streams, ...this.#logs.streams];
    await Promise.all(streams.map((stream) => stream.ensure()));
    // Another server may respond now. Asked here, so that the first operation that needs the clock is not delayed.
    await this.#setClock();
  }

  /** Reads the time of the server. Retries, because a stream that another node has just created does not accept messages at once. */
  async #setClock(): Promise<void> {
    for (let pauseMs = shortestPauseMs; ; pauseMs *= 2) {
      try {
        return void (await this.#clock.set());
      } catch (error) {
        if (pauseMs > longestPauseMs || !isNoResponders((error as Error).cause)) throw error;
        await pauseInBackground(pauseMs);
      }
    }
  }

  async #checkJetStream(): Promise<void> {
    try {
      const { error } = await this.#jetstream.call("INFO", undefined, [apiErrors.disabledForAccount]);
      if (error === undefined) return;
    } catch (error) {
      if (!isNoResponders((error as Error).cause)) throw error;
      throw unusable("leads to a NATS server without JetStream: start it with `nats-server -js`", error);
    }
    throw unusable("has an account without JetStream: enable `jetstream` for the account on the NATS server");
  }
}

function checkVersion({ info }: NatsConnection): void {
  if (info === undefined) throw unusable("is not connected to a NATS server: start the server first");
  const [major = 0, minor = 0] = info.version.split(".").map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw unusable(
    `leads to NATS server ${info.version}: Halyard needs ${oldestMajor}.${oldestMinor} or later`,
  );
}
