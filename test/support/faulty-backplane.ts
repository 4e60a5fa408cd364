// A backplane whose engine fails, hangs or is slow as a test says, one node at a time, and that counts what it is asked.
import type { Backplane } from "halyard";
import { backplaneOf } from "halyard/cluster";
import type { Engine, JoinOptions } from "./backplane.ts";

type Receiver = JoinOptions["receiver"];

/** The operations of an engine. */
export type Operation = Exclude<keyof Engine, "close" | "isSame" | "renew">;

/** Some operations: by name, those about one kind of value such as "get session", or all. */
export type Chosen =
  | Operation
  | `${"get" | "create" | "replace" | "touch" | "remove" | "count"} ${string}`
  | "all";

export interface Asked {
  readonly operation: Operation;
  /** The kind of its value or values, if it is about values. */
  readonly kind: string | undefined;
  readonly args: readonly unknown[];
}

type Fault = (run: () => Promise<unknown>) => Promise<unknown>;

/** What happens to a message or an entry on its way to a node: it is passed on as often as `pass` is called. */
type Delivery = (pass: () => void) => void;

const undisturbed: Delivery = (pass) => pass();

/** The engine of one node, which a test disturbs. */
export class FaultyNode {
  /** What the engine was asked, since the last {@link FaultyNode.forget}. */
  readonly asked: Asked[] = [];
  readonly #faults = new Map<Chosen, Fault>();
  #delivery: Delivery = undisturbed;
  #held: (() => void)[] = [];
  #missed: (() => void) | undefined;

  /** The operations that were asked, beats of the node and what it checks with each of them left out. */
  get operations(): string[] {
    return this.asked
      .filter(
        ({ operation, args }) => operation !== "send" || !/"kind":"(?:beat|hello)"/.test(String(args[1])),
      )
      .filter(({ operation, kind }) => operation !== "get" || kind !== "node")
      .filter(({ operation, args }) => operation !== "read" || args[0] !== "changes")
      .map(({ operation, kind }) => (kind === undefined ? operation : `${operation} ${kind}`));
  }

  forget(): void {
    this.asked.length = 0;
  }

  /** From now on these operations reject. */
  fail(chosen: Chosen = "all", message = "The test has taken the engine away"): void {
    this.#faults.set(chosen, () => Promise.reject(new Error(message)));
  }

  /** From now on these operations throw, as no engine should. */
  throw(chosen: Chosen = "all"): void {
    this.#faults.set(chosen, () => {
      throw new Error("The engine throws");
    });
  }

  /** From now on these operations never end. */
  hang(chosen: Chosen = "all"): void {
    this.#faults.set(chosen, () => new Promise(() => {}));
  }

  /** From now on these operations begin when the promise resolves. */
  delay(chosen: Chosen, until: () => Promise<unknown>): void {
    this.#faults.set(chosen, async (run) => {
      await until();
      return run();
    });
  }

  /** From now on these operations happen at once, and are answered when the promise resolves. */
  delayAnswers(chosen: Chosen, until: () => Promise<unknown>): void {
    this.#faults.set(chosen, async (run) => {
      const answer = await run();
      await until();
      return answer;
    });
  }

  /** From now on these operations happen, but their answers are lost. */
  loseAnswers(chosen: Chosen): void {
    this.#faults.set(chosen, async (run) => {
      await run();
      throw new Error("The test has lost the answer");
    });
  }

  /** The node hears nothing: no message, no entry. */
  deafen(): void {
    this.#delivery = () => {};
  }

  /** The node misses the next entry. Resolves when it has. */
  missEntry(): Promise<void> {
    return new Promise((resolve) => (this.#missed = resolve));
  }

  /** The node hears everything twice. */
  double(): void {
    this.#delivery = (pass) => {
      pass();
      pass();
    };
  }

  /** The node hears everything twice, some of it at once and some of it after what comes next. */
  disorder(): void {
    let count = 0;
    this.#delivery = (pass) => {
      const isLate = ++count % 3 === 0;
      if (isLate) setImmediate(pass);
      else pass();
      setImmediate(pass);
    };
  }

  /** The node hears everything only with {@link FaultyNode.release}, in the order that it chooses. */
  hold(): void {
    this.#delivery = (pass) => void this.#held.push(pass);
  }

  /** Passes on what was held, by default the other way round. */
  release(order: (held: (() => void)[]) => (() => void)[] = (held) => held.toReversed()): void {
    const held = this.#held;
    this.#held = [];
    for (const pass of order(held)) pass();
  }

  /** Cuts the node off: every operation fails, and it hears nothing. */
  cutOff(): void {
    this.fail();
    this.deafen();
  }

  /** Halts the node, as a process that stops: no operation ends, and it hears nothing. */
  halt(): void {
    this.hang();
    this.deafen();
  }

  /** Everything works again; the node is not told that it was cut off. */
  heal(): void {
    this.#faults.clear();
    this.#delivery = undisturbed;
  }

  run(operation: Operation, args: readonly unknown[], run: () => Promise<unknown>): Promise<unknown> {
    const kind = kindOf(args[0]);
    this.asked.push({ operation, kind, args });
    const fault =
      this.#faults.get(`${operation} ${kind}` as Chosen) ??
      this.#faults.get(operation) ??
      this.#faults.get("all");
    return fault === undefined ? run() : fault(run);
  }

  receiver(receiver: Receiver): Receiver {
    return {
      message: (text) => this.#delivery(() => receiver.message(text)),
      entry: (log, entry) => {
        const missed = this.#missed;
        this.#missed = undefined;
        if (missed) missed();
        else this.#delivery(() => receiver.entry(log, entry));
      },
      lost: (error) => receiver.lost(error),
      back: () => receiver.back(),
    };
  }
}

/** The kind of the value, or of the first of the values, that an operation is about. */
function kindOf(about: unknown): string | undefined {
  const [first] = [about].flat() as { readonly kind?: string }[];
  return typeof first === "object" ? first?.kind : undefined;
}

const operations: readonly Operation[] = [
  "get",
  "create",
  "replace",
  "touch",
  "remove",
  "count",
  "append",
  "read",
  "follow",
  "unfollow",
  "removeLog",
  "send",
];

/**
 * A backplane for one server, on `backplane`, which several servers share; `node` disturbs what that one server does and hears.
 */
export function faultyBackplane(backplane: Backplane): { backplane: Backplane; node: FaultyNode } {
  const node = new FaultyNode();
  const open = async (options: JoinOptions): Promise<Engine> => {
    const engine = await backplane.open({ ...options, receiver: node.receiver(options.receiver) });
    const disturbed = operations.map((operation) => {
      const run = engine[operation].bind(engine) as (...args: unknown[]) => Promise<unknown>;
      return [operation, (...args: unknown[]) => node.run(operation, args, () => run(...args))];
    });
    const renew = (error: Error): void => engine.renew(error);
    const isSame = (): Promise<boolean> => engine.isSame();
    return { ...Object.fromEntries(disturbed), isSame, renew, close: () => engine.close() } as Engine;
  };
  return { backplane: backplaneOf({ engine: backplane.engine, options: backplane.options, open }), node };
}
