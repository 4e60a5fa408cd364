// The limits that callers share, against naive models that add everything up again after each of many random operations. They have
// no import of their own in the package, and what they decide is hard to see from outside, so this imports the sources.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evictedFor, Holdings, roomFor } from "../../../src/base/limits/holdings.ts";
import { type Load, Loads } from "../../../src/base/limits/loads.ts";
import { Shares } from "../../../src/base/limits/shares.ts";

const callers = ["a", "b", "c", "d", "e", "f"];
const caller = fc.constantFrom(...callers);
const most = Math.max;

/** What each caller holds. */
class Held extends Map<string, number> {
  of(name: string): number {
    return this.get(name) ?? 0;
  }

  get total(): number {
    return [...this.values()].reduce((sum, held) => sum + held, 0);
  }

  /** One caller gets half, two get a third each: no caller holds more than what stays free, plus one unit. */
  fits(name: string, amount: number, max: number): boolean {
    const free = max - this.total - amount;
    return free >= 0 && this.of(name) + amount - free <= 1;
  }
}

describe("Shares", () => {
  const operation = fc.record({
    name: caller,
    kind: fc.constantFrom("take", "take past half", "count", "give back", "give all back"),
    amount: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 60 })),
  });

  test("hold, refuse and name the greediest as a model does", () => {
    const operations = fc.array(operation, { maxLength: 120 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), operations, (max, all) => {
        const shares = new Shares(max);
        const held = new Held();
        const add = (name: string, amount: number): void => void held.set(name, held.of(name) + amount);
        for (const { name, kind, amount } of all) {
          const fits = held.fits(name, amount, max);
          expect(shares.fits(name, amount)).toBe(fits);
          const isHalfFree = held.total * 2 <= max && held.total + amount <= max;
          expect(shares.fitsPastHalf(name, amount)).toBe(isHalfFree || fits);
          const back = kind === "give all back" ? held.of(name) : Math.min(amount, held.of(name));
          if (kind === "take") {
            expect(shares.take(name, amount)).toBe(fits);
            if (fits) add(name, amount);
          } else if (kind === "take past half" || kind === "count") {
            if (kind === "take past half" && !shares.fitsPastHalf(name, amount)) continue;
            shares.count(name, amount);
            add(name, amount);
          } else {
            shares.count(name, -back);
            add(name, -back);
          }
          expect(shares.total).toBe(held.total);
          for (const each of callers) expect(shares.of(each)).toBe(held.of(each));
          const greediest = shares.greediest();
          if (held.total === 0) expect(greediest).toBe(undefined);
          else expect(held.of(greediest ?? "")).toBe(most(...held.values()));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("among many callers the greediest holds more than half of what any other does", () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 100, maxLength: 300 });
    fc.assert(
      fc.property(amounts, amounts, (given, later) => {
        const shares = new Shares(Infinity);
        const held = new Held();
        for (const [index, amount] of [...given, ...later].entries()) {
          const name = `${index % given.length}`;
          shares.count(name, amount - held.of(name));
          held.set(name, amount);
        }
        if (held.total > 0)
          expect(held.of(shares.greediest() ?? "") * 2).toBeGreaterThan(most(...held.values()));
      }),
    );
  });

  test("forget callers that hold nothing any more", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const shares = new Shares(1000);
    const before = heap();
    for (let index = 0; index < 100_000; index++) {
      const name = `${"caller".repeat(30)}${index}`;
      shares.count(name, 1 + (index % 7));
      shares.count(name, -1 - (index % 7));
    }
    // Each of their names takes about 200 bytes.
    expect(heap() - before).toBeLessThan(5);
    expect(shares.total).toBe(0);
  });
});

describe("Holdings", () => {
  const operation = fc.record({
    name: caller,
    kind: fc.constantFrom("add", "add", "add", "make room", "make room", "renew", "delete"),
    at: fc.nat(20),
    maxOwn: fc.integer({ min: 1, max: 8 }),
  });

  test("keep the order, and evict the oldest thing of the greediest as a model does", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(operation, { maxLength: 80 }), (max, all) => {
        const holdings = new Holdings<number>(max);
        const model = new Map<string, number[]>(callers.map((name) => [name, []]));
        const of = (name: string): number[] => model.get(name) ?? [];
        let last = 0;
        for (const { name, kind, at, maxOwn } of all) {
          const sizes = callers.map((each) => of(each).length);
          const total = sizes.reduce((sum, size) => sum + size, 0);
          const greedy = callers.filter((each) => of(each).length === most(...sizes));
          const oldest = greedy.map((each) => of(each)[0]);
          // A caller must not take a thing from another if it would then hold more than that one.
          const isWorth = most(...sizes) > of(name).length + 1;
          const evicted = evictedFor(holdings, name);
          if (isWorth) expect(oldest).toContain(evicted);
          else expect(evicted).toBe(undefined);
          if (kind === "add") {
            holdings.add(name, ++last);
            of(name).push(last);
          } else if (kind === "make room") {
            const room = roomFor(holdings, name, maxOwn);
            if (of(name).length >= maxOwn) expect(room).toBe(false);
            else if (total < max) expect(room).toBe(true);
            else expect(room).toBe(evicted ?? false);
            const owner = callers.find((each) => of(each).includes(room as number));
            if (owner !== undefined) {
              holdings.delete(owner, room as number);
              model.set(
                owner,
                of(owner).filter((thing) => thing !== room),
              );
            }
            if (room !== false) {
              holdings.add(name, ++last);
              of(name).push(last);
            }
          } else {
            const thing = of(name)[at % most(1, of(name).length)];
            holdings.delete(name, -1);
            if (thing === undefined) continue;
            model.set(
              name,
              of(name).filter((each) => each !== thing),
            );
            if (kind === "delete") holdings.delete(name, thing);
            else {
              holdings.add(name, thing, 0);
              of(name).push(thing);
            }
          }
          for (const each of callers) {
            expect([...holdings.of(each)]).toEqual(of(each));
            expect(holdings.oldestOf(each)).toBe(of(each)[0]);
            expect(holdings.shares.of(each)).toBe(of(each).length);
          }
          expect([...holdings].toSorted()).toEqual([...model.values()].flat().toSorted());
          const longest = most(...callers.map((each) => of(each).length));
          const first = callers.filter((each) => of(each).length === longest).map((each) => of(each)[0]);
          expect(first).toContain(holdings.oldestOfGreediest());
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("Loads", () => {
  /** A message, as the model sees it. */
  interface Message {
    readonly load: Load;
    readonly name: string;
    isCall: boolean;
    weight: number;
    /** The part of the weight that counts; a message that is answered at once counts for nothing. */
    counted: number;
    holders: (() => void)[];
  }

  const operation = fc.record({
    name: caller,
    kind: fc.constantFrom(
      "begin",
      "takes",
      "takes",
      "speaks",
      "grow",
      "grow",
      "stay",
      "empty",
      "hold",
      "let go",
      "release",
    ),
    at: fc.nat(20),
    weight: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 30 })),
  });

  test("take and count messages as a model does, and hold nothing in the end", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(operation, { maxLength: 100 }), (max, all) => {
        const loads = new Loads(max);
        let messages: Message[] = [];
        const heldOf = (isCall: boolean): Held => {
          const held = new Held();
          for (const one of messages)
            if (one.isCall === isCall) held.set(one.name, held.of(one.name) + one.counted);
          return held;
        };
        /** Whether a message of the model may weigh so much; then it does. */
        const weigh = (one: Message, weight: number): boolean => {
          const held = heldOf(one.isCall);
          const more = weight - one.counted;
          const isAlone = held.total === one.counted;
          const isHalfFree = (held.total + more) * 2 <= max;
          const isFree = more <= 0 || isAlone || isHalfFree;
          if (!isFree && !held.fits(one.name, more, max)) return false;
          one.weight = weight;
          if (!isFree) one.counted = weight;
          return true;
        };
        const speak = (one: Message, weight: number): boolean => {
          if (one.isCall) Object.assign(one, { isCall: false, weight: 0, counted: 0 });
          return weigh(one, weight);
        };
        for (const { name, kind, at, weight } of all) {
          const one = messages[at % most(1, messages.length)];
          if (kind === "begin" || one === undefined) {
            messages.push({
              load: loads.begin(name),
              name,
              isCall: true,
              weight: 0,
              counted: 0,
              holders: [],
            });
          } else if (kind === "takes") {
            expect(one.load.takes(weight)).toBe(one.isCall && weigh(one, weight));
          } else if (kind === "speaks") {
            expect(one.load.speaks(weight)).toBe(speak(one, weight));
          } else if (kind === "grow") {
            const fits = (one.isCall && weigh(one, weight)) || speak(one, weight);
            expect(one.load.grow(weight)).toBe(fits);
            if (fits) one.counted = one.weight;
          } else if (kind === "stay") {
            one.load.stay();
            one.counted = one.weight;
          } else if (kind === "empty") {
            one.load.empty();
            one.counted = one.weight = 0;
          } else if (kind === "hold") {
            one.holders.push(one.load.hold());
            one.counted = one.weight;
          } else if (kind === "let go") {
            const letGo = one.holders.pop();
            letGo?.();
            letGo?.();
          } else if (one.holders.length === 0) {
            one.load.release();
            messages = messages.filter((other) => other !== one);
          }
          for (const [shares, isCall] of [
            [loads.calls, true],
            [loads.words, false],
          ] as const) {
            const held = heldOf(isCall);
            expect(shares.total).toBe(held.total);
            for (const each of callers) expect(shares.of(each)).toBe(held.of(each));
          }
          for (const { load, name: each } of messages)
            expect(load.isCrowdedOut).toBe(heldOf(true).of(each) === 0);
        }
        for (const { load, holders } of messages) {
          load.release();
          for (const letGo of holders) letGo();
        }
        expect(loads.total).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test("do not count a message that is answered at once, up to exactly half of the budget", () => {
    const loads = new Loads(10);
    expect(loads.begin("a").grow(3)).toBe(true);
    expect(loads.begin("b").takes(2)).toBe(true);
    expect(loads.calls.total).toBe(3);
    expect(loads.begin("b").takes(3)).toBe(true);
    expect(loads.calls.total).toBe(6);
  });
});
