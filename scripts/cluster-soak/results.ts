// Prints the outcome of the soak, judges it, and keeps the last one of each engine in bench/cluster-soak-results.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Ending } from "./load.ts";

export interface Outcome {
  /** Undefined of one process. */
  readonly engine: string | undefined;
  /** Kills, or cuts of one process. */
  readonly disturbed: number;
  readonly sessions: number;
  readonly minutes: number;
  /** Pushes whose promise resolved. */
  readonly pushes: number;
  /** Those that a client never got, and was not told of. */
  readonly lost: number;
  /** The same, as session, lane, number and time. */
  readonly losses: readonly string[];
  /** Those that a client never got on a stream that it left half-open, or gave up. */
  readonly noticed: number;
  readonly doubled: number;
  readonly disordered: number;
  /** How often the list of resources changed. */
  readonly changes: number;
  /** The longest time after which a client was told so. */
  readonly longestChangeMs: number;
  readonly endings: ReadonlyMap<Ending, number>;
  readonly resumes: number;
  readonly longestResumeMs: number;
  readonly gaps: number;
  /** Requests of the attacker that were answered. */
  readonly attacks: number;
  /** How often an official client gave its stream up. */
  readonly givenUp: number;
  readonly faults: readonly string[];
}

/** Milliseconds after which a client that was not told of a change has lost it. */
const latestChangeMs = 10_000;

const file = fileURLToPath(new URL("../../bench/cluster-soak-results.md", import.meta.url));

const introduction = `# Random kills of three nodes under load, and random cuts of one process

\`npm run soak:cluster -- --kills 500 --engine redis --write\` kills a random node of three with -9, starts it again, and so on, while
clients behind a round-robin balancer keep GET streams open, call tools that push numbers to them, that take up to two seconds, and
that ask. Two clients open two streams at once without an id, and leave the old ones half-open; the two official clients run as they are
shipped; and an attacker sends forged ids and large messages all the time. With \`--alone --cuts 3000\` the same clients use one process
without a backplane, whose list of resources changes about once a second, and a proxy cuts the connections of random GET and POST requests:
both halves at once, or one of them up to two seconds before the other. It writes the last outcome of each here.
`;

/** The rows that only kills or only cuts have. */
function disturbance({ engine, disturbed, changes, longestChangeMs }: Outcome): [string, string | number][] {
  if (engine !== undefined) return [["kills", disturbed]];
  return [
    ["cuts", disturbed],
    ["changes of a list", changes],
    ["longest time until a client was told of one, ms", longestChangeMs],
  ];
}

function sectionOf(outcome: Outcome): string {
  const { sessions, minutes, endings, faults } = outcome;
  const calls = (ending: Ending): number => endings.get(ending) ?? 0;
  const rows: [string, string | number][] = [
    ...disturbance(outcome),
    ["minutes", minutes.toFixed(1)],
    ["sessions with an open GET stream", sessions],
    ["pushes whose promise resolved", outcome.pushes],
    ["of these lost without notice", outcome.lost],
    ["lost on half-open or given up streams, with notice", outcome.noticed],
    ["doubled", outcome.doubled],
    ["out of order", outcome.disordered],
    ["calls that ended with a result", calls("result")],
    ["with one error, on the resumed stream", calls("error of a dead node")],
    ["with a connection error, before the first event id", calls("connection error")],
    ["refused by a node, with 503 and Retry-After", calls("refusal")],
    ["calls that hung or ended otherwise, questions asked twice, streams lost", faults.length],
    ["streams resumed", outcome.resumes],
    ["longest time until a resumed stream was open again, ms", outcome.longestResumeMs],
    ["notifications to read everything again", outcome.gaps],
    ["requests of the attacker", outcome.attacks],
    ["streams that an official client gave up", outcome.givenUp],
  ];
  const [cpu] = cpus();
  const place = `Node ${process.version}, ${cpus().length} x ${cpu?.model.trim() ?? "?"}, ${new Date().toISOString().slice(0, 10)}`;
  const table = rows.map(([name, value]) => `| ${name} | ${value} |`).join("\n");
  return `## ${titleOf(outcome)}\n\n${place}\n\n| what | value |\n| --- | --- |\n${table}\n`;
}

function titleOf({ engine }: Outcome): string {
  return engine ?? "alone";
}

/** Prints the outcome, and writes it if wanted. Returns whether nothing was wrong. */
export function record(outcome: Outcome, isWritten: boolean): boolean {
  const section = sectionOf(outcome);
  console.log(section);
  for (const fault of outcome.faults) console.log(fault);
  for (const loss of outcome.losses) console.log(`lost without notice: ${loss}`);
  if (isWritten) {
    const known = existsSync(file) ? readFileSync(file, "utf8") : "";
    const [, ...others] = known.split(/^(?=## )/m);
    const kept = others
      .filter((other) => !other.startsWith(`## ${titleOf(outcome)}\n`))
      .map((text) => text.trimEnd());
    const sections = [...kept, section.trimEnd()].toSorted();
    writeFileSync(file, `${[introduction.trimEnd(), ...sections].join("\n\n")}\n`);
  }
  const { lost, doubled, disordered, longestChangeMs, faults } = outcome;
  return lost + doubled + disordered + faults.length === 0 && longestChangeMs < latestChangeMs;
}
