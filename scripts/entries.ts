// The entries of the package, read from its `exports`: what users import, and the files behind each.
import { readFileSync } from "node:fs";

/** One import of the package. */
export interface Entry {
  /** What users write, such as `halyard/stdio`. */
  readonly name: string;
  /** The file of `src/` that it is built from. */
  readonly source: string;
  /** The file of `dist/` that is imported. */
  readonly built: string;
}

/** Every entry of package.json that has code. */
export function readEntries(): Entry[] {
  const { name, exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
    name: string;
    exports: Record<string, string | { default: string }>;
  };
  return Object.entries(exports).flatMap(([subpath, target]) => {
    if (typeof target === "string") return [];
    const built = target.default.slice("./".length);
    const source = built.replace(/^dist/, "src").replace(/\.js$/, ".ts");
    return [{ name: name + subpath.slice(".".length), source, built }];
  });
}

/** The files of `src/` behind the imports `#client-platform` and `#oauth-platform` of package.json: one for each kind of runtime. */
export const platformFiles: string[] = [
  "src/client/platform/node.ts",
  "src/client/platform/web.ts",
  "src/client/oauth/platform/node.ts",
  "src/client/oauth/platform/web.ts",
];
