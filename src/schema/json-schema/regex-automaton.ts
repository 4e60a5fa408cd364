// Matches in one pass with a deterministic automaton. It creates states when a text first needs them, and bounds their number.
import { type CodePoints, contains, countUpTo, wordCharacters } from "./code-points.ts";
import type { Assertion } from "./regex-parse.ts";
import type { Instruction, Program } from "./regex-program.ts";
import type { Payer } from "./value-table.ts";

/** The instructions at which the program may be between two characters. */
interface State {
  /** Indexes of instructions, before `#follow`. */
  readonly places: readonly number[];
  readonly isStart: boolean;
  readonly afterWord: boolean;
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
  next: [],
  matchesAtEnd: undefined,
});
const matched = makeState([], false, false);
const failed = makeState([], false, false);

const asciiSize = 128;
/** The most entries in all cached states; a full cache starts again empty. */
const maxKept = 200_000;
/** Beyond ASCII, the classes of this many code points are computed together and cached. */
const pageSize = 256;

export class Automaton {
  readonly #program: Program;
  /** The first code point of each interval that every set contains as a whole or not at all, and the class of each. */
  readonly #intervals: Uint32Array;
  readonly #classes: Uint32Array;
  readonly #asciiClasses = new Uint32Array(asciiSize);
  /** For each class, which sets contain it, and whether it holds word characters. */
  readonly #members: boolean[][] = [];
  readonly #words: boolean[] = [];
  /** Whether a match can begin only at the start. */
  readonly #isAnchored: boolean;
  readonly #start: State;
  readonly #pages: (Uint8Array | undefined)[] = [];
  /** The number of the walk that last visited an instruction. */
  readonly #walks: Uint32Array;
  #walk = 0;
  #states = new Map<string, State>();
  #kept = 0;

  constructor(program: Program) {
    this.#program = program;
    const [first] = program.instructions;
    this.#isAnchored = first?.kind === "assert" && first.assertion === "start";
    const needsWords = program.instructions.some(
      (one) => one.kind === "assert" && one.assertion.endsWith("boundary"),
    );
    const sets = needsWords ? [...program.sets, wordCharacters] : program.sets;
    this.#intervals = intervalsOf(sets);
    this.#classes = this.#classify(sets, needsWords);
    for (let point = 0; point < asciiSize; point++) this.#asciiClasses[point] = this.#classOf(point);
    this.#start = makeState([0], true, false);
    this.#walks = new Uint32Array(program.instructions.length);
  }

  /** Whether the expression matches anywhere in `text`. */
  test(text: string, payer: Payer): boolean {
    let state = this.#start;
    let at = 0;
    let rare = 0;
    while (at < text.length) {
      let unit = text.charCodeAt(at++);
      let symbol: number;
      if (unit < asciiSize) symbol = this.#asciiClasses[unit] as number;
      else {
        if ((unit & 0xfc00) === 0xd800) {
          unit = text.codePointAt(at - 1) as number;
          if (unit > 0xffff) at++;
          rare++;
        }
        symbol = this.#pageOf(unit)?.[unit % pageSize] ?? this.#classOf(unit);
      }
      state = state.next[symbol] ?? this.#advance(state, symbol, payer);
      if (state === matched || state === failed) break;
    }
    payer.spend(2 + (at >> 3) + (rare >> 1));
    if (state === matched || state === failed) return state === matched;
    state.matchesAtEnd ??=
      this.#follow(state, { isStart: state.isStart, isEnd: true, isBoundary: state.afterWord }, payer) ===
      undefined;
    return state.matchesAtEnd;
  }

  #classOf(point: number): number {
    return this.#classes[countUpTo(this.#intervals, point) - 1] as number;
  }

  /** The classes of the code points around this one, if it has at most 16 bits and classes fit into 8. */
  #pageOf(point: number): Uint8Array | undefined {
    const number = point >> 8;
    const known = this.#pages[number];
    if (known !== undefined || point > 0xffff || this.#members.length > 256) return known;
    const page = Uint8Array.from({ length: pageSize }, (_, index) =>
      this.#classOf(number * pageSize + index),
    );
    this.#pages[number] = page;
    return page;
  }

  /** Gives intervals in the same sets the same class. */
  #classify(sets: readonly CodePoints[], lastIsWords: boolean): Uint32Array {
    const known = new Map<string, number>();
    return Uint32Array.from(this.#intervals, (point) => {
      const members = sets.map((set) => contains(set, point));
      const key = members.map(Number).join("");
      let id = known.get(key);
      if (id === undefined) {
        known.set(key, (id = known.size));
        this.#members.push(members);
        this.#words.push(lastIsWords && members.at(-1) === true);
      }
      return id;
    });
  }

  /** The state after a character of a class. */
  #advance(state: State, symbol: number, payer: Payer): State {
    const isWord = this.#words[symbol] === true;
    const at = { isStart: state.isStart, isEnd: false, isBoundary: state.afterWord !== isWord };
    const reads = this.#follow(state, at, payer);
    const next = reads === undefined ? matched : this.#after(reads, symbol, isWord);
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
    const members = this.#members[symbol] as readonly boolean[];
    for (const place of reads) {
      const instruction = this.#program.instructions[place];
      if (instruction?.kind === "read" && members[instruction.set]) add(instruction.next);
    }
    return places.length === 0 ? failed : this.#stateOf(places, isWord);
  }

  #stateOf(places: number[], afterWord: boolean): State {
    places.sort((a, b) => a - b);
    const key = `${afterWord ? "w" : ""}${places.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = makeState(places, false, afterWord);
    this.#kept += places.length + this.#members.length;
    if (this.#kept > maxKept) this.#forget();
    this.#states.set(key, state);
    return state;
  }

  #forget(): void {
    this.#states = new Map();
    this.#kept = 0;
    this.#start.next.length = 0;
  }

  /** The `read` instructions reachable without reading a character; undefined if the program matches on the way. */
  #follow({ places }: State, at: Surroundings, payer: Payer): number[] | undefined {
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
      const instruction = this.#program.instructions[place] as Instruction;
      if (instruction.kind === "match") return undefined;
      payer.spend(5);
      if (instruction.kind === "read") reads.push(place);
      else if (instruction.kind === "fork") {
        add(instruction.other);
        add(instruction.next);
      } else if (holds[instruction.assertion](at)) add(instruction.next);
    }
    return reads;
  }
}

/** The code points where one of the sets begins or ends, and 0. */
function intervalsOf(sets: readonly CodePoints[]): Uint32Array {
  const starts = new Set([0]);
  for (const set of sets)
    for (const [index, point] of set.entries()) starts.add(index % 2 === 0 ? point : point + 1);
  return Uint32Array.from(starts).toSorted();
}
