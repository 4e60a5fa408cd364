// Completes package-lock.json after `npm install`: a registry that lacks the binaries of other platforms leaves them out of
// the lock, and `npm ci` then refuses it everywhere. Name, version and platform are enough for npm to skip or fetch them.
import { readFileSync, writeFileSync } from "node:fs";

interface LockEntry {
  version?: string;
  cpu?: string[];
  dev?: boolean;
  libc?: string[];
  optional?: boolean;
  os?: string[];
  optionalDependencies?: Record<string, string>;
}

const platforms: Record<string, string> = { windows: "win32", "64": "x64" };
const path = "package-lock.json";
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockEntry> };
const added = Object.entries(lock.packages)
  .filter(([folder]) => folder !== "")
  .flatMap(([, entry]) => Object.entries(entry.optionalDependencies ?? {}))
  .map(([name, version]) => [`node_modules/${name}`, version] as const)
  .filter(([folder]) => lock.packages[folder] === undefined);
for (const [folder, version] of added) lock.packages[folder] = platformEntry(folder, version);
const { "": root, ...others } = lock.packages;
const sorted = Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(
  path,
  `${JSON.stringify({ ...lock, packages: { "": root, ...Object.fromEntries(sorted) } }, null, 2)}\n`,
);
console.log(`Added ${added.length} packages of other platforms to ${path}`);

/** What the name of a platform package says: `@scope/binding-linux-x64-musl`, `@scope/name-windows-64`, `@scope/linux-x64-gnu`. */
function platformEntry(folder: string, version: string): LockEntry {
  const name = folder.slice(folder.lastIndexOf("/"));
  const [, os, cpu, abi] =
    /[-/](android|darwin|freebsd|linux|openharmony|win32|windows)-(\w+)(?:-(\w+))?$/.exec(name) ?? [];
  if (os === undefined || cpu === undefined) {
    throw new Error(`${folder} does not name its platform: add it to ${path} by hand`);
  }
  const libc =
    os === "linux" && abi !== undefined ? { libc: [abi.startsWith("musl") ? "musl" : "glibc"] } : {};
  return {
    version,
    cpu: [platforms[cpu] ?? cpu],
    dev: true,
    ...libc,
    optional: true,
    os: [platforms[os] ?? os],
  };
}
