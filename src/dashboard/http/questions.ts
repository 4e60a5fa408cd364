// The table of questions that a page may ask, with the kinds of their members.
import { nearest } from "../../base/options.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";
import type { Ask, Questions } from "../answers.ts";

/** The check of a question's member, and its description in a refusal. */
interface Kind {
  readonly is: (value: unknown) => boolean;
  readonly what: string;
}

/** Characters of a search. No name of a client or an entry is longer. Past it, the dashboard responds with 400. */
const maxText = 200;
/** Entries of a timeline in a question. Past it, the dashboard responds with 400. */
const maxEntries = 2000;

const isText = (value: unknown): boolean => typeof value === "string" && value.length <= maxText;
const text: Kind = { is: isText, what: `a string of at most ${maxText} characters` };
const entries: Kind = {
  is: (value) => Array.isArray(value) && value.length <= maxEntries && value.every(isText),
  what: `an array of at most ${maxEntries} strings of at most ${maxText} characters`,
};

function optional({ is, what }: Kind): Kind {
  return { is: (value) => value === undefined || is(value), what: `${what}, or left out` };
}

const mark: Kind = { is: Number.isFinite, what: "a number" };
const search = { search: optional(text) };
const peer = { peer: text };

const questions: {
  readonly [Name in Ask]: { readonly [Member in keyof Required<Questions[Name]>]: Kind };
} = {
  about: {},
  now: {},
  sessions: search,
  streams: search,
  tools: search,
  topics: search,
  calls: search,
  call: { id: text },
  timeline: { ...peer, after: optional(mark) },
  messages: { ...peer, entries },
  recording: peer,
  end: peer,
};

/** Whether a question changes something. */
export function isAction(ask: Ask): boolean {
  return ask === "end";
}

/** A question as the page sent it, or why it cannot be answered. */
export type ReadQuestion =
  | { readonly ask: Ask; readonly question: JsonObject }
  | { readonly problem: string };

/** Reads `{ ask, ...members }`. */
export function readQuestion(value: unknown): ReadQuestion {
  if (!isObject(value)) return { problem: "A question is a JSON object with the member ask" };
  const { ask, ...question } = value;
  if (typeof ask !== "string" || !Object.hasOwn(questions, ask))
    return { problem: `There is no such question: ${nearest(String(ask).slice(0, maxText), questions)}` };
  const members: Readonly<Record<string, Kind>> = questions[ask as Ask];
  const unknown = Object.keys(question).find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined) return { problem: `${ask} has no member ${unknown.slice(0, maxText)}` };
  for (const [name, { is, what }] of Object.entries(members)) {
    if (!is(question[name])) return { problem: `${name} of ${ask} must be ${what}` };
  }
  return { ask: ask as Ask, question };
}
