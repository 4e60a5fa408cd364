// Compiles a schema and everything that it refers to into nodes.
import { isObject, type JsonObject } from "../../../base/wire/message.ts";
import { type Budget, CompileSteps, InvalidKeyword, measure, type Payer } from "./budget.ts";
import { arrayKeywords, lengthKeywords, unevaluatedItems } from "./array-keywords.ts";
import { recursiveAnchor, type ReferenceTarget, SchemaDocument, type SchemaResource } from "./document.ts";
import { constantKeywords, inPlaceKeywords } from "./in-place-keywords.ts";
import { type KeywordTable, type SchemaDraft, type Surroundings } from "./keyword.ts";
import { ownKeywordProblem, pathTo } from "./keywords.ts";
import {
  anyValue,
  evaluate,
  valueKinds,
  makeNode,
  type Node,
  type NodeCheck,
  noValue,
  restrict,
  type Seen,
} from "./node.ts";
import { numberKeywords } from "./number-keywords.ts";
import { objectKeywords, sizeKeywords, unevaluatedProperties } from "./object-keywords.ts";
import { type Backtracking, Patterns } from "./pattern.ts";
import type { StateCache } from "./regex-automaton.ts";
import type { Run } from "./run.ts";
import { stringKeywords, textKeywords } from "./string-keywords.ts";

/**
 * In order of evaluation: cheap keywords first, then those that read the whole value, and last those that need the outcome of
 * others.
 */
const keywords: KeywordTable = [
  ...numberKeywords,
  ...stringKeywords,
  ...lengthKeywords,
  ...sizeKeywords,
  ...constantKeywords,
  ...textKeywords,
  ...objectKeywords,
  ...arrayKeywords,
  ...inPlaceKeywords,
  ...unevaluatedItems,
  ...unevaluatedProperties,
];
const positions: ReadonlyMap<string, number> = new Map(keywords.map(([name], position) => [name, position]));

export interface CompiledDocument {
  readonly root: Node;
  /** Patterns that need a backtracking matcher. */
  readonly backtracking: readonly Backtracking[];
  /** The steps that compiling took. The result takes at most about 40 bytes for each. */
  readonly steps: number;
}

/** The steps that each value and each character of a schema costs, whatever its keywords are. */
const stepsOfElement = 20;
const stepsOfCharacter = 1 / 16;

/** Throws if a reference has no target, a pattern is not a regular expression, or the schema costs more than the budget. */
export function compileDocument(
  schema: JsonObject,
  draft: SchemaDraft,
  budget: Budget,
  states: StateCache,
): CompiledDocument {
  const payer = new CompileSteps(budget.compileSteps);
  const { elements, characters } = measure(schema);
  payer.spend(elements * stepsOfElement + characters * stepsOfCharacter);
  // Cloned, so that the author can change the object later.
  const document = new SchemaDocument(structuredClone(schema), draft, payer);
  const patterns = new Patterns(payer, budget.maxInstructions, states);
  const root = new Compiler(document, patterns, payer).compile();
  return { root, backtracking: patterns.backtracking, steps: payer.steps };
}

/** Steps after which a validation remembers outcomes; for smaller ones that would cost more than it saves. */
const rememberFrom = 5000;

class Compiler {
  readonly #document: SchemaDocument;
  readonly #patterns: Patterns;
  readonly #payer: Payer;
  readonly #anchored = new Map<string, Map<object, Node>>();
  readonly #waiting: (() => void)[] = [];

  constructor(document: SchemaDocument, patterns: Patterns, payer: Payer) {
    this.#document = document;
    this.#patterns = patterns;
    this.#payer = payer;
  }

  compile(): Node {
    const { root } = this.#document;
    const node = this.#node({ schema: root.root, resource: root });
    // Also compile schemas that nothing refers to, so that their mistakes are reported.
    for (const target of this.#document.targets()) this.#node(target);
    // A queue instead of recursion, because references can form a chain of any length.
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) next();
    return node;
  }

  #node({ schema, resource: found }: ReferenceTarget): Node {
    if (typeof schema === "boolean") return schema ? anyValue : noValue;
    if (!isObject(schema)) throw new TypeError("the target of a reference is not a schema");
    const resource = this.#document.ownerOf(schema, found);
    const known = resource.nodes.get(schema);
    if (known !== undefined) return known;
    const node = makeNode();
    resource.nodes.set(schema, node);
    this.#waiting.push(() => this.#fillOrName(node, schema, resource));
    return node;
  }

  /** Like `#node`, but where dynamic references need it, validation also records that it enters a resource. */
  #entering(target: ReferenceTarget, from?: SchemaResource): Node {
    const node = this.#node(target);
    const resource = isObject(target.schema)
      ? this.#document.ownerOf(target.schema, target.resource)
      : target.resource;
    if (resource === from || !this.#document.isDynamic) return node;
    const entering = makeNode();
    const check: NodeCheck<unknown> = (value, run, seen) => {
      run.entered.push(resource);
      const fits = evaluate(node, value, run, seen);
      run.entered.pop();
      return fits;
    };
    for (const kind of Object.values(valueKinds)) entering.checks[kind] = [check];
    return entering;
  }

  /** Adds the place to the error of a keyword that cannot be compiled. */
  #fillOrName(node: Node, schema: JsonObject, resource: SchemaResource): void {
    try {
      this.#fill(node, schema, resource);
    } catch (error) {
      if (!(error instanceof InvalidKeyword)) throw error;
      const path = pathTo(schema, this.#document.root.root);
      throw path === "" ? error : new TypeError(`${path}: ${error.message}`, { cause: error.cause });
    }
  }

  #fill(node: Node, schema: JsonObject, resource: SchemaResource): void {
    const { draft } = this.#document;
    if (!this.#document.has(schema)) checkKeywords(schema);
    const surroundings: Surroundings = {
      schema,
      draft,
      inner: (inner) => this.#entering({ schema: inner, resource }, resource),
      referred: (keyword, reference) => this.#referred(keyword, reference, resource),
      pattern: (source) => this.#patterns.compile(source),
      payer: this.#payer,
    };
    // Up to draft 7, other keywords beside `$ref` are ignored.
    const isReference = draft <= 7 && typeof schema["$ref"] === "string";
    const { type } = schema;
    if (type !== undefined && !isReference) restrict(node, [type].flat() as (keyof typeof valueKinds)[]);
    const found = isReference ? ["$ref"] : Object.keys(schema);
    const used = found.flatMap((name) => positions.get(name) ?? []).toSorted((a, b) => a - b);
    for (const position of used) this.#add(node, keywords[position] as KeywordTable[number], surroundings);
  }

  #add(node: Node, [name, { about, compile }]: KeywordTable[number], surroundings: Surroundings): void {
    const setting = surroundings.schema[name];
    if (setting === undefined) return;
    const check = compile(setting as never, surroundings) as NodeCheck<unknown> | undefined;
    if (check === undefined) return;
    const isLast = name.startsWith("unevaluated");
    if (isLast) node.tracks = true;
    const checks = isLast ? node.last : node.checks;
    for (const kind of about) (checks[valueKinds[kind]] ??= []).push(check);
  }

  #referred(keyword: string, reference: string, base: SchemaResource): NodeCheck<unknown> {
    const target = this.#document.find(reference, base);
    if (target === undefined) {
      const isOutside = !reference.startsWith("#");
      const problem = isOutside ? "points outside the schema and is never fetched" : "has no target";
      throw new InvalidKeyword(`the ${keyword} "${reference}" ${problem}: put its target under $defs`);
    }
    const node = this.#entering(target, base);
    const name = keyword === "$recursiveRef" ? recursiveAnchor : reference.slice(reference.indexOf("#") + 1);
    const isDynamic = keyword !== "$ref" && target.resource.dynamicAnchors.get(name) === target.schema;
    if (!isDynamic || !this.#document.isDynamic) return refer(node, !this.#document.isDynamic);
    return this.#dynamic(name, node);
  }

  /** A dynamic reference: its target is the anchor in the outermost entered resource that has it. */
  #dynamic(name: string, otherwise: Node): NodeCheck<unknown> {
    const { root } = this.#document;
    const candidates = this.#candidates(name);
    return (value, run, seen) => {
      run.spend(run.entered.length >> 1);
      const outermost = candidates.has(root)
        ? root
        : run.entered.find((resource) => candidates.has(resource));
      return evaluate((outermost && candidates.get(outermost)) ?? otherwise, value, run, seen);
    };
  }

  /** The schemas with this dynamic anchor, by their resources. */
  #candidates(name: string): ReadonlyMap<object, Node> {
    let candidates = this.#anchored.get(name);
    if (candidates === undefined) {
      this.#anchored.set(name, (candidates = new Map()));
      this.#payer.spend(this.#document.resources.size);
      for (const resource of this.#document.resources.values()) {
        const schema = resource.dynamicAnchors.get(name);
        if (schema !== undefined) candidates.set(resource, this.#entering({ schema, resource }));
      }
    }
    return candidates;
  }
}

function refer(node: Node, canRemember: boolean): NodeCheck<unknown> {
  return (value: unknown, run: Run, seen: Seen | undefined) => {
    const isLarge = run.steps > rememberFrom && typeof value === "object" && value !== null;
    if (!isLarge || !canRemember || seen !== undefined) return evaluate(node, value, run, seen);
    return run.remember(node, value, () => evaluate(node, value, run));
  };
}

function checkKeywords(schema: JsonObject): void {
  const problem = ownKeywordProblem(schema);
  if (problem !== undefined) throw new TypeError(`the target of a reference ${problem}`);
}
