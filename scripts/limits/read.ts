// Reads options and constants with their doc comments. What a limit does stands there after "Past it,", "After it," or "Below it,".
import { readFileSync } from "node:fs";
import type { Constants, Members } from "./sections.ts";

/** One row of the page. */
export interface Limit {
  readonly name: string;
  readonly value: string;
  readonly what: string;
  readonly past: string;
}

/** The parts of a doc comment. */
interface Doc {
  readonly what: string;
  readonly past: string;
  readonly value: string | undefined;
}

const docComment = String.raw`/\*\*((?:(?!\*/)[^])*)\*/\s+`;
const outcome = /(?:^| )(?:Past|After|Below) it,? /;

export function limitsOf(source: Members | Constants): Limit[] {
  const text = readFileSync(`src/${source.file}`, "utf8");
  return "constants" in source
    ? source.constants.map((name) => constantOf(text, name))
    : membersOf(text, source);
}

function membersOf(text: string, { of, prefix = "", only, file }: Members): Limit[] {
  const head = new RegExp(String.raw`^export (?:interface ${of}\b|const ${of} = )[^{]*\{\n`, "m").exec(text);
  if (head === null) throw new Error(`src/${file} has no ${of}`);
  const start = head.index + head[0].length;
  const body = text.slice(start, text.indexOf("\n}", start));
  const members = [...body.matchAll(new RegExp(`${docComment}(?:readonly )?(\\w+)\\??: (.*)[;,]`, "g"))];
  const found = new Map(
    members.map(([, doc = "", name = "", rest = ""]) => [name, { doc: docOf(doc), rest }]),
  );
  const isInterface = head[0].startsWith("export interface");
  const isLimit = (name: string): boolean => !isInterface || /^\d+$/.test(found.get(name)?.doc.value ?? "");
  return (only ?? [...found.keys()].filter(isLimit)).map((name) => {
    const { doc, rest } = found.get(name) ?? missing(`${of}.${name}`);
    if (doc.value === undefined) return fixed(doc, valueOf(text, rest));
    const value = presetOf(text, name);
    if (value !== undefined && String(value) !== doc.value)
      throw new Error(
        `The doc comment of ${of}.${name} says ${doc.value}, and its table ${value}: src/${file}`,
      );
    return {
      name: `\`${prefix}${name}\``,
      value: shown(doc.value, name),
      what: lower(doc.what),
      past: doc.past,
    };
  });
}

/** The default that an option has in the table of its file, or in an object of limits; undefined if it has none there. */
function presetOf(text: string, name: string): number | undefined {
  const [, preset, limit] =
    new RegExp(String.raw`^  ${name}: (?:preset\(.*, ([\w* ]+)\)|([\d_]+(?: \* [\d_]+)*)),$`, "m").exec(
      text,
    ) ?? [];
  const expression = preset ?? limit;
  return expression === undefined ? undefined : valueOf(text, expression);
}

function constantOf(text: string, name: string): Limit {
  const [, doc = ""] =
    new RegExp(`${docComment}(?:export )?const ${name}(?:: number)? = `).exec(text) ?? missing(name);
  return fixed(docOf(doc), valueOf(text, name));
}

/** A limit that cannot be set: the first sentence names it. */
function fixed({ what, past }: Doc, value: number): Limit {
  const [name = "", ...rest] = what.split(". ");
  const label = lower(name);
  return { name: label, value: shown(String(value), label), what: lower(rest.join(". ")), past };
}

function docOf(comment: string): Doc {
  const text = comment
    .replaceAll(/\s*\n\s*\*? ?/g, " ")
    .replaceAll(/\{@link (\S+)\}/g, "`$1`")
    .trim();
  const [, before = text, value] = /^([^]*?)\s*@default \{([^]*)\}$/.exec(text) ?? [];
  const [what = "", ...pasts] = before.split(outcome);
  return { what: withoutStop(what), past: withoutStop(pasts.join(" ")), value };
}

/** The number that an expression stands for: a product, or another constant of the file. */
function valueOf(text: string, expression: string): number {
  const factors = expression.split("*").map((factor) => {
    const word = factor.trim();
    if (/^[\d_]+$/.test(word)) return Number(word.replaceAll("_", ""));
    const [, value] = new RegExp(`^(?:export )?const ${word}(?:: number)? = (.*);`, "m").exec(text) ?? [];
    return valueOf(text, value ?? missing(word));
  });
  return factors.reduce((product, factor) => product * factor, 1);
}

const units: readonly (readonly [ends: RegExp, sizes: readonly (readonly [size: number, unit: string])[]])[] =
  [
    [
      /Bytes$|^bytes/,
      [
        [1024 ** 2, "MiB"],
        [1024, "KiB"],
      ],
    ],
    [
      /Ms$|^milliseconds/,
      [
        [3_600_000, "h"],
        [60_000, "min"],
        [1000, "s"],
      ],
    ],
  ];

/** The value as it is set, and in the largest unit in which it is a whole number. */
function shown(value: string, name: string): string {
  const [, sizes = []] = units.find(([ends]) => ends.test(name)) ?? [];
  const whole = sizes.find(([size]) => Number(value) % size === 0);
  return whole === undefined ? value : `${value} (${Number(value) / whole[0]} ${whole[1]})`;
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.$/, "");
}

function lower(text: string): string {
  return /^[A-Z](?![A-Z])/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function missing(name: string): never {
  throw new Error(`${name} has no doc comment, or is not there any more: see scripts/limits/sections.ts`);
}
