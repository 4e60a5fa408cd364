// A regular expression as a list of instructions, each with its successors: a nondeterministic automaton.
import { type CharacterSet, singleOf } from "./code-points.ts";
import { type Assertion, NotLinear, type ParsedRegex, type Tree } from "./regex-parse.ts";

export type RegexInstruction =
  | { readonly kind: "read"; readonly set: number; next: number }
  | { readonly kind: "assert"; readonly assertion: Assertion; next: number }
  | { readonly kind: "fork"; next: number; other: number }
  | { readonly kind: "match" };

export interface RegexProgram {
  readonly instructions: readonly RegexInstruction[];
  /** The sets that the instructions read. */
  readonly sets: readonly CharacterSet[];
}

/** Counted repetitions are written out, so a program can grow large; a longer one is not written. */
const maxInstructions = 25_000;

/** Each character takes time for each class when a text first contains it. */
const maxClasses = 1000;

/** The number of instructions that a program will have, found before any is written. Throws {@link NotLinear} for too many. */
export function programSize({ tree, sets }: ParsedRegex): number {
  const classes = sets.filter((set) => singleOf(set) === undefined).length;
  if (classes > maxClasses)
    throw new NotLinear(`has more than ${maxClasses} different classes of characters`);
  const size = sizeOf(tree) + 1;
  if (size > maxInstructions)
    throw new NotLinear(`has more than ${maxInstructions} steps when its repetitions are written out`);
  return size;
}

function sizeOf(tree: Tree): number {
  switch (tree.kind) {
    case "set":
    case "assertion":
      return 1;
    case "sequence":
      return tree.parts.reduce((size, part) => size + sizeOf(part), 0);
    case "choice":
      return tree.options.reduce((size, option) => size + sizeOf(option) + 2, -2);
    case "repeat": {
      const size = sizeOf(tree.part);
      // An empty part is written once at most.
      if (size === 0) return 2;
      return tree.min * size + (tree.max === Infinity ? size + 2 : (tree.max - tree.min) * (size + 1));
    }
  }
}

export function writeProgram({ tree, sets }: ParsedRegex): RegexProgram {
  const writer = new Writer();
  writer.write(tree);
  writer.add({ kind: "match" });
  const { instructions } = writer;
  // From the end, so that the jumps after a place already lead to their destinations.
  for (const instruction of instructions.toReversed()) {
    if (instruction.kind !== "match") instruction.next = destination(instructions, instruction.next);
    if (instruction.kind === "fork") instruction.other = destination(instructions, instruction.other);
  }
  return { instructions, sets };
}

/** Where the jumps at a place lead, so that alternatives with the same continuation become the same state. */
function destination(instructions: readonly RegexInstruction[], place: number): number {
  let at = place;
  for (
    let next = instructions[at];
    next?.kind === "fork" && next.next === next.other;
    next = instructions[at]
  )
    at = next.next;
  return at;
}

class Writer {
  readonly instructions: RegexInstruction[] = [];

  add<I extends RegexInstruction>(instruction: I): I {
    this.instructions.push(instruction);
    return instruction;
  }

  /** The index of the next instruction. */
  get #here(): number {
    return this.instructions.length;
  }

  write(tree: Tree): void {
    switch (tree.kind) {
      case "set":
        this.add({ kind: "read", set: tree.set, next: this.#here + 1 });
        break;
      case "assertion":
        this.add({ kind: "assert", assertion: tree.assertion, next: this.#here + 1 });
        break;
      case "sequence":
        for (const part of tree.parts) this.write(part);
        break;
      case "choice":
        this.#choice(tree.options);
        break;
      case "repeat":
        this.#repeat(tree.part, tree.min, tree.max);
        break;
    }
  }

  #fork(): RegexInstruction & { kind: "fork" } {
    return this.add({ kind: "fork", next: this.#here + 1, other: -1 });
  }

  #choice(options: readonly Tree[]): void {
    const ends: { next: number; other: number }[] = [];
    for (const [index, option] of options.entries()) {
      const fork = index < options.length - 1 ? this.#fork() : undefined;
      this.write(option);
      if (fork === undefined) break;
      ends.push(this.#fork());
      fork.other = this.#here;
    }
    for (const end of ends) end.next = end.other = this.#here;
  }

  #repeat(part: Tree, min: number, max: number): void {
    for (let times = 0; times < min; times++) {
      const before = this.#here;
      this.write(part);
      if (this.#here === before) return;
    }
    if (max === Infinity) {
      const start = this.#here;
      const fork = this.#fork();
      this.write(part);
      const back = this.#fork();
      back.next = back.other = start;
      fork.other = this.#here;
      return;
    }
    const skips: { other: number }[] = [];
    for (let times = min; times < max; times++) {
      skips.push(this.#fork());
      const before = this.#here;
      this.write(part);
      if (this.#here === before) break;
    }
    for (const skip of skips) skip.other = this.#here;
  }
}
