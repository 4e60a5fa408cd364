// Holds the tests to spec/requirements.yaml: known ids only, and every server-side MUST in scope is cited or explained.
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

/** A MUST that binds no server that Halyard can be part of: why. */
interface NotOurs {
  readonly id: string;
  readonly reason: string;
}

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
const notYet = (parse(readFileSync("spec/not-yet.yaml", "utf8")) ?? []) as NotYet[];
const notOurs = (parse(readFileSync("spec/not-ours.yaml", "utf8")) ?? []) as NotOurs[];
const citations = readCitations();

const known = new Set(Object.values(manifest.areas).flatMap((area) => area.requirements.map(({ id }) => id)));
const cited = new Set(citations.map(({ id }) => id));
const excused = new Set([...notYet, ...notOurs].map(({ id }) => id));
const duties = new Map(areasInScope.map((area) => [area, dutiesOf(area)]));
const dutyIds = new Set([...duties.values()].flat().map(({ id }) => id));

printCoverage();
endWith(
  [...unknownCitations(), ...wrongExcuses(), ...uncited()],
  `Every server-side MUST is cited, in spec/not-yet.yaml (${notYet.length}) or in spec/not-ours.yaml (${notOurs.length})`,
);

/** What binds a server in this area. */
function dutiesOf(area: string): Requirement[] {
  const { requirements } = manifest.areas[area] ?? {};
  if (requirements === undefined) throw new Error(`spec/requirements.yaml has no area ${area}`);
  return requirements.filter(
    ({ level, side }) => level.startsWith("MUST") && (side === "server" || side === "both"),
  );
}

function unknownCitations(): string[] {
  return citations
    .filter(({ id }) => !known.has(id))
    .map(({ id, where }) => `${where} cites ${id}, which is not in spec/requirements.yaml: correct the id`);
}

function wrongExcuses(): string[] {
  return [
    ...notYet.flatMap(({ id, reason, brings }) =>
      reason && brings
        ? wrongExcuse("not-yet", id)
        : `spec/not-yet.yaml: ${id} needs a reason, and what brings it`,
    ),
    ...notOurs.flatMap(({ id, reason }) =>
      reason ? wrongExcuse("not-ours", id) : `spec/not-ours.yaml: ${id} needs a reason`,
    ),
  ];
}

function wrongExcuse(file: "not-yet" | "not-ours", id: string): string[] {
  const entry = `spec/${file}.yaml: ${id}`;
  if (!known.has(id)) return [`${entry} is not in spec/requirements.yaml: correct the id`];
  if (!dutyIds.has(id)) return [`${entry} is no server-side MUST of an area in scope: remove the entry`];
  return cited.has(id) ? [`${entry} is cited by a test: remove the entry`] : [];
}

function uncited(): string[] {
  return [...duties].flatMap(([area, requirements]) =>
    requirements
      .filter(({ id }) => !cited.has(id) && !excused.has(id))
      .map(
        ({ id }) =>
          `${area}: no test cites ${id}: write one, or explain it in spec/not-yet.yaml or spec/not-ours.yaml`,
      ),
  );
}

/** Cited and all server-side MUSTs, per area and revision. */
function printCoverage(): void {
  const revisions = manifest.revisions.filter((revision) => revision !== "draft");
  const row = (name: string, requirements: readonly Requirement[]): string[] => [
    name,
    share(requirements),
    ...revisions.map((date) => share(requirements.filter((each) => each.revisions.includes(date)))),
  ];
  const all = [...duties.values()].flat();
  printTable([
    ["area", "all", ...revisions],
    ...[...duties].map(([area, requirements]) => row(area, requirements)),
    row("total", all),
  ]);
  const beyond = [...cited].filter((id) => known.has(id) && !dutyIds.has(id)).length;
  console.log(`${citations.length} citations of ${cited.size} ids, ${beyond} of them beyond these MUSTs\n`);
}

function share(requirements: readonly Requirement[]): string {
  return `${requirements.filter(({ id }) => cited.has(id)).length}/${requirements.length}`;
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
