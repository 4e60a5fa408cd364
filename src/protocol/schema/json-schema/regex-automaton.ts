// Matches in one pass with a deterministic automaton. It creates states and classes of characters when a text first needs them.
import type { Payer } from "./budget.ts";
import { type CharacterSet, contains, setOf, singleOf, wordCharacters } from "./code-points.ts";
import type { Assertion } from "./regex-parse.ts";
import type { RegexInstruction, RegexProgram } from "./regex-program.ts";

/** The instructions that the program may have reached between two characters. */
interface State {
  /** Indexes of instructions, before `#follow`. */
  readonly places: readonly number[];
  readonly isStart: boolean;
  readonly afterWord: boolean;
  /** The result of `#follow` before a character that begins or ends no word, and before one that does. */
  readonly reads: (readonly number[] | undefined)[];
  /** The next state by the class of the next character, created on first use. */
  readonly next: (State | undefined)[];
  matchesAtEnd: boolean | undefined;
}

interface Surroundings {
  readonly isStart: boolean;
  readonly isEnd: boolean;
  readonly isBoundary: boolean;
}

const holds: Readonly<Record<Assertion, (at: Surroundings) => boolean>> = {
  start: ({ isStart }) => isStart,
  end: ({ isEnd }) => isEnd,
  boundary: ({ isBoundary }) => isBoundary,
  "no boundary": ({ isBoundary }) => !isBoundary,
};

const makeState = (places: readonly number[], isStart: boolean, afterWord: boolean): State => ({
  places,
  isStart,
  afterWord,
  reads: [],
  next: [],
  matchesAtEnd: undefined,
});
const matched = makeState([], false, false);
const failed = makeState([], false, false);
/** In place of instructions that read: the program matches before it reads. */
const matches: readonly number[] = [];

/** How much the automatons with one cache may keep, in places of states. When it is full, all of them start again empty. */
const maxKept = 200_000;
/** The places that a state counts for besides its own. */
const keptOfState = 32;

/** The states that the automatons of one or several documents keep together. */
export class StateCache {
  readonly #holders = new Set<Automaton>();
  #kept = 0;

  keep(holder: Automaton, places: number): void {
    this.#kept += places;
    this.#holders.add(holder);
  }

  /** Makes room if there is none. */
  renew(): void {
    if (this.#kept > maxKept) this.clear();
  }

  /** Frees the states of all automatons, including those that are no longer used. */
  clear(): void {
    for (const holder of this.#holders) holder.forget();
    this.#holders.clear();
    this.#kept = 0;
  }
}

/** The classes of this many code points are cached together. */
const pageSize = 256;
const keptOfPage = 64;
const maxCachedClass = 0xffff;
/** The index of the word characters, which `\\b` needs. */
const words = -1;

export class Automaton {
  readonly #program: RegexProgram;
  readonly #cache: StateCache;
  /** The indexes of the sets of one character, by that character, and the other sets with their indexes. */
  readonly #singles = new Map<number, number>();
  readonly #wide: (readonly [index: number, set: CharacterSet])[] = [];
  /** Whether a match can begin only at the start. */
  readonly #isAnchored: boolean;
  /** The number of the walk that last visited an instruction. */
  readonly #walks: Uint32Array;
  #walk = 0;
  /** Classes, which begin with 1, by the sets that contain them. */
  #classes = new Map<string, number>();
  #setsOfClass: ReadonlySet<number>[] = [new Set()];
  /** The class of each code point; 0 if it is not known yet. */
  #pages: (Uint16Array | undefined)[] = [];
  #states = new Map<string, State>();
  #start = makeState([0], true, false);
  /** The steps of finding the class of a character. */
  #stepsOfClass = 10;

  constructor(program: RegexProgram, cache: StateCache) {
    this.#program = program;
    this.#cache = cache;
    const [first] = program.instructions;
    this.#isAnchored = first?.kind === "assert" && first.assertion === "start";
    const needsWords = program.instructions.some(
      (one) => one.kind === "assert" && one.assertion.endsWith("boundary"),
    );
    if (needsWords) this.#wide.push([words, setOf(wordCharacters)]);
    for (const [index, set] of program.sets.entries()) {
      const single = singleOf(set);
      if (single === undefined) this.#wide.push([index, set]);
      else this.#singles.set(single, index);
    }
    for (const [, { properties }] of this.#wide) this.#stepsOfClass += 1 + properties.length;
    this.#walks = new Uint32Array(program.instructions.length);
  }

  /** Whether the expression matches anywhere in `text`. */
  test(text: string, payer: Payer): boolean {
    this.#cache.renew();
    let state = this.#start;
    let at = 0;
    let rare = 0;
    while (at < text.length) {
      let point = text.charCodeAt(at++);
      if ((point & 0xfc00) === 0xd800) {
        point = text.codePointAt(at - 1) as number;
        if (point > 0xffff) at++;
        rare++;
      }
      const symbol = this.#pages[point >> 8]?.[point % pageSize] || this.#classify(point, payer);
      state = state.next[symbol] ?? this.#advance(state, symbol, payer);
      if (state === matched || state === failed) break;
    }
    payer.spend(2 + (at >> 3) + (rare >> 1));
    if (state === matched || state === failed) return state === matched;
    state.matchesAtEnd ??=
      this.#follow(state, { isStart: state.isStart, isEnd: true, isBoundary: state.afterWord }, payer) ===
      matches;
    return state.matchesAtEnd;
  }

  /** Finds the class of a code point: those in the same sets have the same one. */
  #classify(point: number, payer: Payer): number {
    payer.spend(this.#stepsOfClass);
    const sets: number[] = [];
    for (const [index, set] of this.#wide) if (contains(set, point)) sets.push(index);
    const single = this.#singles.get(point);
    if (single !== undefined) sets.push(single);
    const key = sets.join();
    let symbol = this.#classes.get(key);
    if (symbol === undefined) {
      symbol = this.#setsOfClass.push(new Set(sets)) - 1;
      this.#classes.set(key, symbol);
      this.#cache.keep(this, 4 + sets.length);
    }
    let page = this.#pages[point >> 8];
    if (page === undefined) {
      page = this.#pages[point >> 8] = new Uint16Array(pageSize);
      this.#cache.keep(this, keptOfPage);
    }
    if (symbol <= maxCachedClass) page[point % pageSize] = symbol;
    return symbol;
  }

  /** The state after a character of a class. */
  #advance(state: State, symbol: number, payer: Payer): State {
    const isWord = this.#setsOfClass[symbol]?.has(words) === true;
    const isBoundary = state.afterWord !== isWord;
    const at = { isStart: state.isStart, isEnd: false, isBoundary };
    const reads = (state.reads[Number(isBoundary)] ??= this.#follow(state, at, payer));
    payer.spend(10 + (reads.length >> 2));
    const next = reads === matches ? matched : this.#after(reads, symbol, isWord);
    this.#cache.keep(this, Math.max(0, symbol + 1 - state.next.length));
    state.next[symbol] = next;
    return next;
  }

  #after(reads: readonly number[], symbol: number, isWord: boolean): State {
    const walk = ++this.#walk;
    const places: number[] = [];
    const add = (place: number): void => {
      if (this.#walks[place] === walk) return;
      this.#walks[place] = walk;
      places.push(place);
    };
    if (!this.#isAnchored) add(0);
    const sets = this.#setsOfClass[symbol] as ReadonlySet<number>;
    for (const place of reads) {
      const instruction = this.#program.instructions[place];
      if (instruction?.kind === "read" && sets.has(instruction.set)) add(instruction.next);
    }
    return places.length === 0 ? failed : this.#stateOf(places, isWord);
  }

  #stateOf(places: number[], afterWord: boolean): State {
    places.sort((a, b) => a - b);
    const key = `${afterWord ? "w" : ""}${places.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    // The text continues from the new state, which needs nothing from the earlier cache.
    this.#cache.renew();
    const state = makeState(places, false, afterWord);
    this.#cache.keep(this, keptOfState + places.length);
    this.#states.set(key, state);
    return state;
  }

  /** Starts again empty. */
  forget(): void {
    this.#classes = new Map();
    this.#setsOfClass = [new Set()];
    this.#pages = [];
    this.#states = new Map();
    this.#start = makeState([0], true, false);
  }

  /** The `read` instructions reachable without reading a character; {@link matches} if the program matches on the way. */
  #follow({ places }: State, at: Surroundings, payer: Payer): readonly number[] {
    const walk = ++this.#walk;
    const waiting: number[] = [];
    const reads: number[] = [];
    const add = (place: number): void => {
      if (this.#walks[place] === walk) return;
      this.#walks[place] = walk;
      waiting.push(place);
    };
    payer.spend(40);
    for (const place of places) add(place);
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      const instruction = this.#program.instructions[place] as RegexInstruction;
      if (instruction.kind === "match") return matches;
      payer.spend(5);
      if (instruction.kind === "read") reads.push(place);
      else if (instruction.kind === "fork") {
        add(instruction.other);
        add(instruction.next);
      } else if (holds[instruction.assertion](at)) add(instruction.next);
    }
    this.#cache.keep(this, reads.length);
    return reads;
  }
}
