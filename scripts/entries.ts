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

/** The files of `src/` behind the imports of package.json that depend on the kind of runtime, for a client and for a server. */
export const platformFiles: { readonly client: readonly string[]; readonly server: readonly string[] } = {
  client: [
    "src/client/platform/node.ts",
    "src/client/platform/web.ts",
    "src/client/oauth/platform/node.ts",
    "src/client/oauth/platform/web.ts",
  ],
  server: ["src/dashboard/platform/node.ts", "src/dashboard/platform/web.ts"],
};
