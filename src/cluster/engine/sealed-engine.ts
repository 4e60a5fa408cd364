// Wraps an engine: with `secret`, values, entries and messages are encrypted and authenticated, and names are hidden.
import type { Logger } from "../../base/logging/logger.ts";
import { logRejection, RateLimitedLog } from "../../base/logging/rate-limited-log.ts";
import type {
  AppendOptions,
  CountedKind,
  Engine,
  EngineJoin,
  EngineReceiver,
  EngineSource,
  LogEntry,
  StoredValue,
  ValueKey,
} from "./engine.ts";
import { guardEngine } from "./guarded-engine.ts";
import { HiddenNames, Sealing } from "./sealing.ts";

/** How many beats a node waits for other nodes whose secrets it does not have. */
const beatsToHear = 2.5;

interface OpenOptions extends EngineJoin {
  readonly secrets: readonly string[];
  /** Milliseconds between two beats of a node. */
  readonly beatMs: number;
}

/** Opens the engine of a backplane, sealed if there are secrets. Rejects if running nodes have other secrets. */
export async function openEngine(backplane: EngineSource, options: OpenOptions): Promise<Engine> {
  const { prefix, node, logger, receiver, secrets, beatMs } = options;
  const sealing = secrets.length > 0 ? await Sealing.with(secrets) : undefined;
  let hearForeign = (): void => {};
  let inner: EngineReceiver = {
    message: (text) => isForeign(text, sealing) && hearForeign(),
    entry: () => {},
    lost: (error) => receiver.lost(error),
    back: () => receiver.back(),
  };
  const outer: EngineReceiver = {
    message: (text) => inner.message(text),
    entry: (log, entry) => inner.entry(log, entry),
    lost: (error) => inner.lost(error),
    back: () => inner.back(),
  };
  const opened = await backplane.open({ prefix, node, logger, receiver: outer });
  const guarded = guardEngine(opened, backplane.engine);
  const othersRun = (): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), beatMs * beatsToHear);
      hearForeign = () => (clearTimeout(timer), resolve(true));
    });
  try {
    const names = await HiddenNames.agree(guarded, sealing, othersRun);
    inner = receiver;
    if (!sealing || !names) return guarded;
    const engine = new SealedEngine(guarded, { sealing, names, node, logger, receiver });
    inner = engine;
    return engine;
  } catch (error) {
    await guarded.close().catch(() => {});
    throw error;
  }
}

/** Whether a node with other secrets has sent this text. */
function isForeign(text: string, sealing: Sealing | undefined): boolean {
  const [channel, id = ""] = text.split(".", 2);
  const isSealed = channel === allNodes || channel === oneNode;
  return sealing ? !isSealed || !sealing.ids.includes(id) : isSealed;
}

/** How a sealed message begins: whether it is for all nodes or for one. */
const allNodes = "a";
const oneNode = "n";

interface SealedParts {
  readonly sealing: Sealing;
  readonly names: HiddenNames;
  readonly node: string;
  readonly logger: Logger;
  readonly receiver: EngineReceiver;
}

/** Passes everything on in order, although encryption is asynchronous. */
class SealedEngine implements Engine, EngineReceiver {
  readonly #engine: Engine;
  readonly #parts: SealedParts;
  #names: HiddenNames;
  /** The logs that this node follows, by their hidden names. */
  readonly #logs = new Map<string, string>();
  #sent: Promise<unknown> = Promise.resolve();
  #received: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine, parts: SealedParts) {
    this.#engine = engine;
    this.#parts = parts;
    this.#names = parts.names;
  }

  async get(key: ValueKey): Promise<StoredValue | undefined> {
    const hidden = await this.#hide(key);
    const stored = await this.#engine.get(hidden);
    const text = stored && (await this.#parts.sealing.open(stored.text, placeOf(hidden)));
    if (stored && text === undefined) this.#reject(`a value of the kind ${key.kind}`);
    return stored && text !== undefined ? { text, version: stored.version } : undefined;
  }

  async create(key: ValueKey, text: string, ttlMs: number | undefined): Promise<string | undefined> {
    const hidden = await this.#hide(key);
    return this.#engine.create(hidden, await this.#seal(text, placeOf(hidden)), ttlMs);
  }

  async replace(
    key: ValueKey,
    text: string,
    ttlMs: number | undefined,
    version: string,
  ): Promise<string | undefined> {
    const hidden = await this.#hide(key);
    return this.#engine.replace(hidden, await this.#seal(text, placeOf(hidden)), ttlMs, version);
  }

  async touch(keys: readonly ValueKey[], ttlMs: number): Promise<void> {
    return this.#engine.touch(await Promise.all(keys.map((key) => this.#hide(key))), ttlMs);
  }

  async remove(key: ValueKey): Promise<void> {
    return this.#engine.remove(await this.#hide(key));
  }

  count(kind: CountedKind): Promise<number> {
    return this.#engine.count(kind);
  }

  append(log: string, text: string, options: AppendOptions): Promise<number> {
    const prepared = this.#names.hide(log).then(async (hidden) => {
      return [hidden, await this.#seal(text, placeOfLog(hidden))] as const;
    });
    return this.#inOrder(prepared, ([hidden, sealed]) => {
      if (options.follow === "start") this.#logs.set(hidden, log);
      return this.#engine.append(hidden, sealed, options);
    });
  }

  async read(log: string, from: number): Promise<readonly LogEntry[]> {
    const hidden = await this.#names.hide(log);
    const entries = await this.#engine.read(hidden, from);
    const opened = await Promise.all(entries.map((entry) => this.#openEntry(hidden, entry)));
    return opened.filter((entry) => entry !== undefined);
  }

  async follow(logs: readonly string[], keepMs: number): Promise<void> {
    const hidden = await Promise.all(logs.map((log) => this.#names.hide(log)));
    for (const [at, name] of hidden.entries()) this.#logs.set(name, logs[at] as string);
    return this.#engine.follow(hidden, keepMs);
  }

  async unfollow(log: string): Promise<void> {
    const hidden = await this.#names.hide(log);
    this.#logs.delete(hidden);
    return this.#engine.unfollow(hidden);
  }

  async removeLog(log: string): Promise<void> {
    return this.#engine.removeLog(await this.#names.hide(log));
  }

  send(to: string | "all", text: string): Promise<void> {
    const sealed = this.#seal(text, placeOfMessages(to));
    const channel = to === "all" ? allNodes : oneNode;
    return this.#inOrder(sealed, (body) => this.#engine.send(to, `${channel}.${body}`));
  }

  isSame(): Promise<boolean> {
    return this.#engine.isSame();
  }

  renew(error: Error): void {
    this.#engine.renew(error);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  // Called by the engine for this node.

  message(text: string): void {
    const { sealing, node, receiver } = this.#parts;
    const to = text.startsWith(`${allNodes}.`) ? "all" : node;
    this.#pass(sealing.open(text.slice(2), placeOfMessages(to)), (opened) => {
      if (opened === undefined) this.#reject("a message");
      else receiver.message(opened);
    });
  }

  entry(hidden: string, entry: LogEntry): void {
    const log = this.#logs.get(hidden);
    if (log === undefined) return;
    this.#pass(this.#openEntry(hidden, entry), (opened) => {
      if (opened !== undefined) this.#parts.receiver.entry(log, opened);
    });
  }

  lost(error: unknown): void {
    this.#parts.receiver.lost(error);
  }

  /** If the engine has lost its data, the key of names is restored first, so that a node that joins uses the same names. */
  back(): void {
    const restored = this.#names.restore(this.#engine, this.#parts.sealing).catch(() => this.#names);
    this.#pass(restored, (names) => {
      this.#names = names;
      this.#parts.receiver.back();
    });
  }

  async #hide({ kind, tag }: ValueKey): Promise<ValueKey> {
    return { kind, tag: await this.#names.hide(tag) };
  }

  #seal(text: string, place: string): Promise<string> {
    return this.#parts.sealing.seal(text, place);
  }

  async #openEntry(hidden: string, { sequence, previous, text }: LogEntry): Promise<LogEntry | undefined> {
    const opened = await this.#parts.sealing.open(text, placeOfLog(hidden));
    if (opened === undefined) this.#reject("an entry of a log");
    return opened === undefined ? undefined : { sequence, previous, text: opened };
  }

  #inOrder<Prepared, Result>(
    prepared: Promise<Prepared>,
    run: (prepared: Prepared) => Promise<Result>,
  ): Promise<Result> {
    const turn = this.#sent.then(() => prepared);
    this.#sent = turn.catch(() => {});
    return turn.then(run);
  }

  #pass<Opened>(opened: Promise<Opened>, pass: (opened: Opened) => void): void {
    const passed = this.#received.then(() => opened).then(pass);
    this.#received = passed.catch(() => {});
    logRejection(this.#parts.logger, "Receiving from the engine", passed);
  }

  #reject(what: string): void {
    const problem = `Ignored ${what} in the engine that no node with a common secret has written`;
    RateLimitedLog.of(this.#parts.logger).error(problem);
  }
}

function placeOf({ kind, tag }: ValueKey): string {
  return `value ${kind} ${tag}`;
}

function placeOfLog(hidden: string): string {
  return `log ${hidden}`;
}

function placeOfMessages(to: string): string {
  return `message ${to}`;
}
