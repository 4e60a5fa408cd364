// Remembers what every test client of this worker said and heard, and finds what the official schemas do not allow.
import type { JsonObject } from "halyard";
import { expect } from "vitest";
import { legacyDates, metaKeys, modernDates, newestModern } from "../revisions.ts";
import type { MessageChecker } from "./check-message.ts";

const dates: ReadonlySet<string> = new Set([...modernDates, ...legacyDates]);

interface Heard {
  readonly message: JsonObject;
  readonly revision: string;
  readonly answered: readonly string[];
  readonly test: string;
}

let unchecked: Heard[] = [];
let allowed: string[] = [];

/**
 * Lets the test that calls it hear what no schema has: `what` is the method, or the path of the key, as the complaint names
 * it. For servers that are made to send something of their own.
 */
export function allowBeyondSchema(...what: readonly string[]): void {
  allowed.push(...what);
}

/** What one client and its server say to each other. */
export class Conversation {
  /** The requests with that id: some tests use an id more than once. */
  readonly #asked = new Map<unknown, Asked[]>();
  /** What has been agreed, or else what the client speaks. */
  revision: string;

  constructor(revision: string) {
    this.revision = revision;
  }

  said(text: string): void {
    for (const message of messagesIn(text)) {
      const { id, method } = message as { id?: unknown; method?: unknown };
      if (id === undefined || typeof method !== "string") continue;
      const asked = { method, revision: method === "initialize" ? undefined : statedRevision(message) };
      this.#asked.set(id, [...(this.#asked.get(id) ?? []), asked]);
    }
  }

  heard(text: string, test = currentTest()): void {
    for (const message of messagesIn(text)) this.heardMessage(message, test);
  }

  heardMessage(heard: object, test = currentTest()): void {
    const message = heard as JsonObject;
    const { id, method } = message;
    if (method !== undefined) {
      this.#keep({ message, answered: [], revision: this.#revisionOfPush(message), test });
      return;
    }
    // An id that could not be read answers no request in particular.
    const asked = (id !== null && this.#asked.get(id)) || [];
    const agreed = (message["result"] as JsonObject | undefined)?.["protocolVersion"];
    const isAgreement = typeof agreed === "string" && asked.some((one) => one.method === "initialize");
    if (isAgreement) this.revision = agreed;
    const stated = new Set(asked.map((one) => one.revision ?? this.revision));
    // Requests with the same id under several revisions: the response does not tell which of them it answers.
    if (stated.size > 1 && !isAgreement) return;
    const [revision = this.revision] = isAgreement ? [agreed] : stated;
    const answered = asked.filter((one) => (one.revision ?? this.revision) === revision);
    this.#keep({ message, answered: answered.map((one) => one.method), revision, test });
  }

  #keep(heard: Heard): void {
    if (dates.has(heard.revision)) unchecked.push(heard);
  }

  /** What belongs to a subscription is modern, whatever has been agreed. */
  #revisionOfPush({ params }: JsonObject): string {
    const meta = (params as JsonObject | undefined)?.["_meta"] as JsonObject | undefined;
    return meta?.[metaKeys.subscriptionId] === undefined ? this.revision : newestModern;
  }
}

/** A request of the client, and the revision that it states. */
interface Asked {
  readonly method: string;
  readonly revision: string | undefined;
}

/** Checks everything that has been heard since the last time. */
export async function takeProblems(): Promise<string[]> {
  const heard = unchecked;
  const exceptions = allowed;
  unchecked = [];
  allowed = [];
  if (heard.length === 0) return [];
  const { MessageChecker } = await import("./check-message.ts");
  return heard.flatMap(({ message, revision, answered, test }) => {
    const checker = checkers.get(revision) ?? new MessageChecker(revision);
    checkers.set(revision, checker);
    const problem = checker.problem(message, answered);
    if (problem === undefined || exceptions.some((what) => problem.includes(what))) return [];
    return [`${revision} ${problem}\n  in ${JSON.stringify(message).slice(0, 2000)}\n  heard by: ${test}`];
  });
}

const checkers = new Map<string, MessageChecker>();

function currentTest(): string {
  return expect.getState().currentTestName ?? "a test that has ended";
}

/** The messages of a text, if it is one of JSON-RPC; a batch has several. */
function messagesIn(text: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(text);
    return [value].flat().filter((one) => typeof one === "object" && one !== null) as JsonObject[];
  } catch {
    return [];
  }
}

function statedRevision(message: JsonObject): string | undefined {
  const params = message["params"] as JsonObject | null | undefined;
  const meta = params?.["_meta"] as JsonObject | null | undefined;
  const stated = meta?.[metaKeys.protocolVersion];
  return typeof stated === "string" && dates.has(stated) ? stated : undefined;
}
