// A regular expression as a list of instructions, each with its successors: a nondeterministic automaton.
import type { CodePoints } from "./code-points.ts";
import { type Assertion, NotRegular, type Tree } from "./regex-parse.ts";

export type Instruction =
  | { readonly kind: "read"; readonly set: number; next: number }
  | { readonly kind: "assert"; readonly assertion: Assertion; next: number }
  | { readonly kind: "fork"; next: number; other: number }
  | { readonly kind: "match" };

export interface Program {
  readonly instructions: readonly Instruction[];
  /** The sets that the instructions read, without duplicates. */
  readonly sets: readonly CodePoints[];
}

/** Counted repetitions are written out, so a program can grow large; a longer one is not used. */
const maxInstructions = 25_000;

/** The most entries in the table of characters and sets. */
const maxTable = 2_000_000;

/** Throws {@link NotRegular} if the program is too long or distinguishes too many characters. */
export function writeProgram(tree: Tree): Program {
  const writer = new Writer();
  writer.write(tree);
  writer.add({ kind: "match" });
  const sets = [...writer.sets.values()].map(({ set }) => set);
  const ends = sets.reduce((sum, set) => sum + set.length, 0);
  if (ends * sets.length > maxTable) throw new NotRegular();
  return { instructions: writer.instructions, sets };
}

class Writer {
  readonly instructions: Instruction[] = [];
  readonly sets = new Map<string, { readonly id: number; readonly set: CodePoints }>();

  add<I extends Instruction>(instruction: I): I {
    if (this.instructions.length >= maxInstructions) throw new NotRegular();
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
        this.add({ kind: "read", set: this.#idOf(tree.set), next: this.#here + 1 });
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

  #idOf(set: CodePoints): number {
    const key = set.join();
    let known = this.sets.get(key);
    if (known === undefined) this.sets.set(key, (known = { id: this.sets.size, set }));
    return known.id;
  }

  #fork(): Instruction & { kind: "fork" } {
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
