// Compiles the schemas once for all test files, before the first: each file has a process of its own, and compiling in each
// would take longer than most of them.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import type { TestProject } from "vitest/node";
import { readRevisionSchemas } from "./revision-schemas.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the checks of each revision are: `<date>.cjs`. */
    readonly compiledSchemas: string;
  }
}

const sources = fileURLToPath(new URL(".", import.meta.url));
const schemas = fileURLToPath(new URL("../../../spec/schemas/", import.meta.url));
// What is compiled needs Ajv's own code, and finds it from here.
const cache = fileURLToPath(new URL("../../../node_modules/.cache/halyard-schemas/", import.meta.url));

export default function setup(project: TestProject): void {
  const folder = join(cache, fingerprint());
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(schemas).filter((name) => /^\d.*\.json$/.test(name))) {
    const revision = file.replace(".json", "");
    const target = join(folder, `${revision}.cjs`);
    if (existsSync(target)) continue;
    // Another run may be writing the same.
    const unfinished = `${target}.${process.pid}`;
    writeFileSync(unfinished, compile(revision));
    renameSync(unfinished, target);
  }
  project.provide("compiledSchemas", folder);
}

/** A digest of everything that the output depends on, except the version of Ajv. */
function fingerprint(): string {
  const hash = createHash("sha256");
  for (const folder of [sources, schemas]) {
    for (const file of readdirSync(folder)) hash.update(readFileSync(join(folder, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

const formats = {
  uri: /^[A-Za-z][\w+.-]*:\S*$/,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  "uri-template": true as const,
};

function compile(revision: string): string {
  const { definitions, messages } = readRevisionSchemas(revision);
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    inlineRefs: false,
    formats,
    code: { source: true },
  });
  ajv.addSchema({ $id: "revision", $defs: definitions });
  const names = Object.entries(messages).map(([kind, schema]) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"revision#/');
    ajv.addSchema({ ...(JSON.parse(text) as object), $id: encodeURIComponent(kind) });
    return [kind, encodeURIComponent(kind)];
  });
  return standaloneCode.default(ajv, Object.fromEntries(names) as Record<string, string>);
}
