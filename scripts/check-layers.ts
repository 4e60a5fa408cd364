// Layers: no import against the order of layers.json, and no two folders import each other, however long the way round.
import { execFileSync } from "node:child_process";
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

const { modules, summary } = cruise();
const problems = [
  ...summary.violations.map(({ from, to, rule }) => `${from} imports ${to}: ${rule.name}`),
  ...circles().map((folders) => `These folders import each other: ${folders.join(" → ")}`),
];
endWith(problems, `${modules.length} files import only from above`);

/** The imports of every file, those of types included. */
function cruise(): Cruised {
  const command = ["src", "--output-type", "json"];
  return JSON.parse(execFileSync("depcruise", command, { encoding: "utf8", maxBuffer: 2 ** 28 })) as Cruised;
}

/** Each way from a folder back to itself. */
function circles(): string[][] {
  const imports = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    for (const { resolved } of dependencies) {
      const [from, to] = [folderOf(source), folderOf(resolved)];
      if (from === to || !resolved.startsWith("src/")) continue;
      imports.set(from, (imports.get(from) ?? new Set()).add(to));
    }
  }
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (folder: string, path: readonly string[]): void => {
    const at = path.indexOf(folder);
    if (at !== -1) return void found.push([...path.slice(at), folder]);
    if (done.has(folder)) return;
    for (const next of imports.get(folder) ?? []) walk(next, [...path, folder]);
    done.add(folder);
  };
  for (const folder of imports.keys()) walk(folder, []);
  return found;
}

/** A file that is a layer of its own counts as a folder. */
function folderOf(file: string): string {
  return layers.includes(file.replace("src/", "")) ? file : dirname(file);
}
