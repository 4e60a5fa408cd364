// Layers: no import against the order of layers.json, and ARCHITECTURE.md draws the folders as the imports are. `--write` draws
// them anew.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import layers from "./layers.json" with { type: "json" };
import { endWith } from "./outcome.ts";

interface Cruised {
  readonly modules: readonly {
    readonly source: string;
    readonly dependencies: readonly { readonly resolved: string }[];
  }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

const document = "ARCHITECTURE.md";
const [begin, end] = ["<!-- layers: begin -->", "<!-- layers: end -->"];

const { modules, summary } = cruise();
const problems = summary.violations.map(({ from, to, rule }) => `${from} imports ${to}: ${rule.name}`);
// With an import against the order there may be a cycle, which cannot be drawn.
if (problems.length === 0) compareGraph();
endWith(problems, `${modules.length} files import only from above, and ${document} draws it`);

function compareGraph(): void {
  const text = readFileSync(document, "utf8");
  const [before, rest = ""] = text.split(begin);
  const [drawn, after] = rest.split(end);
  if (drawn === undefined || after === undefined) {
    problems.push(`${document} has no ${begin} and ${end}: put them where the graph belongs`);
    return;
  }
  const graph = draw();
  if (process.argv.includes("--write")) writeFileSync(document, `${before}${begin}${graph}${end}${after}`);
  else if (drawn !== graph)
    problems.push(`${document} does not draw the imports as they are: run npm run check:layers -- --write`);
}

/** The imports of every file, those of types included. */
function cruise(): Cruised {
  const command = ["src", "--output-type", "json"];
  return JSON.parse(execFileSync("depcruise", command, { encoding: "utf8", maxBuffer: 2 ** 28 })) as Cruised;
}

/** The graph between folders. An import that a path over other folders implies is left out, or nobody could read it. */
function draw(): string {
  const imports = new Map(layers.map((layer) => [layer, new Set<string>()]));
  for (const { source, dependencies } of modules) {
    for (const { resolved } of dependencies) {
      // A module of Node may have the name of a folder.
      if (!resolved.startsWith("src/")) continue;
      const [from, to] = [layerOf(source), layerOf(resolved)];
      if (from !== to && imports.has(to)) imports.get(from)?.add(to);
    }
  }
  const reaches = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const lines = layers.toReversed().flatMap((layer) => {
    const direct = [...(imports.get(layer) ?? [])];
    return direct
      .filter((to) => !direct.some((other) => other !== to && reaches(other, to)))
      .toSorted((one, other) => layers.indexOf(one) - layers.indexOf(other))
      .map((to) => `  ${nodeOf(layer)} --> ${nodeOf(to)}`);
  });
  return ["", "", "```mermaid", "flowchart TD", ...lines, "```", "", ""].join("\n");
}

function layerOf(file: string): string {
  const path = file.replace(/^src\//, "");
  if (layers.includes(path)) return path;
  return dirname(path) === "." ? path : dirname(path);
}

function nodeOf(layer: string): string {
  return `${layer.replaceAll(/\W/g, "_")}["${layer}"]`;
}
