// Holds the tests to spec/requirements.yaml: known ids only, and every MUST in scope, of a server and of a client, is cited or explained.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { readCitations } from "./citations.ts";
import { endWith } from "./outcome.ts";

interface Requirement {
  readonly id: string;
  readonly level: string;
  readonly side: string;
  readonly revisions: readonly string[];
}

interface Manifest {
  readonly revisions: readonly string[];
  readonly areas: Readonly<Record<string, { readonly requirements: readonly Requirement[] }>>;
}

/** A MUST that cannot be shown yet: why, and the part of Halyard that will bring it. */
interface NotYet {
  readonly id: string;
  readonly reason: string;
  readonly brings: string;
}

/** A MUST that binds no server or client that Halyard can be part of: why. */
interface NotOurs {
  readonly id: string;
  readonly reason: string;
}

type Side = "server" | "client";

/** The excuses of each side. */
type Excuses<Excuse> = Readonly<Record<Side, readonly Excuse[]>>;

/** Where the tests of the client are. */
const clientFolders = ["test/client/", "test/browser/"];
const isOfClient = (file: string): boolean => clientFolders.some((folder) => file.startsWith(folder));

/** The tests that show what binds a side: a test of the server says nothing of the client. */
const isTestOf: Readonly<Record<Side, (file: string) => boolean>> = {
  server: (file) => !isOfClient(file),
  client: isOfClient,
};

const areasInScope = [
  "base-jsonrpc",
  "json-schema",
  "versioning-discovery",
  "lifecycle-initialize",
  "transport-stdio",
  "transport-streamable-http-stable",
  "transport-streamable-http-2026-07-28",
  "transport-legacy-http-sse",
  "x-mcp-header",
  "transport-custom",
  "sessions",
  "resumability",
  "subscriptions-listen",
  "list-changed",
  "resources",
  "tools",
  "prompts",
  "completion",
  "logging",
  "pagination",
  "caching",
  "progress",
  "cancellation",
  "ping",
  "extensions",
  "authorization-general",
  "authorization-resource-server",
  "authorization-client",
  "client-registration",
  "authorization-2025-03-26",
  "security",
  "metadata",
  "deprecations",
  "sampling",
  "elicitation",
  "elicitation-form",
  "elicitation-url",
  "roots",
  "mrtr",
  "tasks-2025-11-25",
  "tasks-extension",
];

const manifest = parse(readFileSync("spec/requirements.yaml", "utf8")) as Manifest;
const notYet = parse(readFileSync("spec/not-yet.yaml", "utf8")) as Excuses<NotYet>;
const notOurs = parse(readFileSync("spec/not-ours.yaml", "utf8")) as Excuses<NotOurs>;
const citations = readCitations();
const known = new Set(Object.values(manifest.areas).flatMap((area) => area.requirements.map(({ id }) => id)));

const problems = [...unknownCitations(), ...checkSide("server"), ...checkSide("client")];
endWith(problems, "Every MUST of servers and clients is cited or explained");

/** Prints the coverage of one side, and returns its problems. */
function checkSide(side: Side): string[] {
  const ofSide = citations.filter(({ where }) => isTestOf[side](where));
  const cited = new Set(ofSide.map(({ id }) => id));
  const duties = new Map(areasInScope.map((area) => [area, dutiesOf(area, side)]));
  const dutyIds = new Set([...duties.values()].flat().map(({ id }) => id));
  printCoverage(side, duties, cited);
  const beyond = [...cited].filter((id) => known.has(id) && !dutyIds.has(id)).length;
  console.log(`${ofSide.length} citations of ${cited.size} ids, ${beyond} of them beyond these MUSTs`);
  console.log(`${notYet[side].length} in spec/not-yet.yaml, ${notOurs[side].length} in spec/not-ours.yaml\n`);
  const excused = new Set([...notYet[side], ...notOurs[side]].map(({ id }) => id));
  return [...wrongExcuses(side, dutyIds, cited), ...uncited(side, duties, new Set([...cited, ...excused]))];
}

/** What binds that side in this area. */
function dutiesOf(area: string, side: Side): Requirement[] {
  const { requirements } = manifest.areas[area] ?? {};
  if (requirements === undefined) throw new Error(`spec/requirements.yaml has no area ${area}`);
  return requirements.filter((each) => each.level.startsWith("MUST") && [side, "both"].includes(each.side));
}

function unknownCitations(): string[] {
  return citations
    .filter(({ id }) => !known.has(id))
    .map(({ id, where }) => `${where} cites ${id}, which is not in spec/requirements.yaml: correct the id`);
}

function wrongExcuses(side: Side, dutyIds: ReadonlySet<string>, cited: ReadonlySet<string>): string[] {
  const wrong = (file: "not-yet" | "not-ours", id: string, isWhole: boolean): string[] => {
    const entry = `spec/${file}.yaml, ${side}: ${id}`;
    if (!isWhole) return [`${entry} needs a reason${file === "not-yet" ? ", and what brings it" : ""}`];
    if (!known.has(id)) return [`${entry} is not in spec/requirements.yaml: correct the id`];
    if (!dutyIds.has(id)) return [`${entry} is no MUST of a ${side} in an area in scope: remove the entry`];
    return cited.has(id) ? [`${entry} is cited by a test: remove the entry`] : [];
  };
  return [
    ...notYet[side].flatMap(({ id, reason, brings }) => wrong("not-yet", id, Boolean(reason && brings))),
    ...notOurs[side].flatMap(({ id, reason }) => wrong("not-ours", id, Boolean(reason))),
  ];
}

function uncited(
  side: Side,
  duties: ReadonlyMap<string, readonly Requirement[]>,
  settled: ReadonlySet<string>,
): string[] {
  const remedy = "write one, or explain it in spec/not-yet.yaml or spec/not-ours.yaml";
  return [...duties].flatMap(([area, requirements]) =>
    requirements
      .filter(({ id }) => !settled.has(id))
      .map(({ id }) => `${area}: no test of the ${side} cites ${id}: ${remedy}`),
  );
}

/** Cited and all MUSTs of one side, per area and revision. */
function printCoverage(
  side: Side,
  duties: ReadonlyMap<string, readonly Requirement[]>,
  cited: ReadonlySet<string>,
): void {
  const revisions = manifest.revisions.filter((revision) => revision !== "draft");
  const share = (requirements: readonly Requirement[]): string =>
    `${requirements.filter(({ id }) => cited.has(id)).length}/${requirements.length}`;
  const row = (name: string, requirements: readonly Requirement[]): string[] => [
    name,
    share(requirements),
    ...revisions.map((date) => share(requirements.filter((each) => each.revisions.includes(date)))),
  ];
  printTable([
    [`${side}: area`, "all", ...revisions],
    ...[...duties]
      .filter(([, { length }]) => length > 0)
      .map(([area, requirements]) => row(area, requirements)),
    row("total", [...duties.values()].flat()),
  ]);
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    console.log(cells.join("  "));
  }
}
