// Builds the dashboard's page into one text, so that a server that shows it needs no files beside its own code.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";

const pageFolder = "src/dashboard/page";
/** Budget of the page in bytes: the client and the plots are half of it. */
const mostBytes = 250_000;

/** A seventh of the page would check the results of tools against their schemas: the client works without, and says so. */
const leaveOutValidator: Plugin = {
  name: "leave-out-validator",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/protocol\/schema\/json-schema\.ts$/ }, () => ({
      contents: `export const jsonSchemaProblem = () => "is not checked by this page";
        export const compileJsonSchema = jsonSchemaProblem;`,
    })),
};

/** The three texts of the page. */
interface PageTexts {
  readonly html: string;
  readonly js: string;
  readonly css: string;
  /** How many bytes each source adds, by its path. */
  readonly parts: ReadonlyMap<string, number>;
}

/** The packages whose code the page contains: their licenses ask to be named with it. */
const bundled = ["preact", "uplot"];

/** The files of `dist/` that hold the page, by path. Throws if the page is too large. */
export async function buildPage(): Promise<Map<string, string>> {
  const { parts, ...texts } = await bundlePage();
  const json = JSON.stringify(texts);
  const packed = gzipSync(json, { level: 9 }).toString("base64");
  const [bytes, most, whole] = [packed.length, mostBytes, json.length].map((each) =>
    each.toLocaleString("en"),
  );
  if (packed.length > mostBytes)
    throw new Error(
      `The dashboard's page has ${bytes} bytes, ${most} are allowed. Shorten ${largestOf(parts)}`,
    );
  // Not on standard output: what `npm start` prints there is the server's.
  console.error(`The dashboard's page: ${bytes} of ${most} bytes, ${whole} unpacked`);
  return new Map([
    ["dist/dashboard/page/index.js", `export const packed = "${packed}";\n`],
    ["dist/dashboard/page/index.d.ts", "export declare const packed: string;\n"],
    ["dist/dashboard/page/licenses.txt", bundled.map(licenseOf).join("\n")],
  ]);
}

/** One script and one style sheet. The client comes from its sources, since the package may not be built yet. */
async function bundlePage(): Promise<PageTexts> {
  const { outputFiles, metafile } = await build({
    entryPoints: { page: `${pageFolder}/main.tsx`, "page-style": `${pageFolder}/styles/index.css` },
    outdir: "/",
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["es2023", "chrome123", "firefox121", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    alias: {
      "halyard/client": "./src/client/index.ts",
      "#client-platform": "./src/client/platform/web.ts",
    },
    plugins: [leaveOutValidator],
    write: false,
    metafile: true,
  });
  const textOf = (path: string): string => {
    const file = outputFiles.find((output) => output.path === path);
    if (file === undefined) throw new Error(`The bundler wrote no ${path}`);
    return file.text;
  };
  const html = readFileSync(`${pageFolder}/page.html`, "utf8");
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const parts = new Map(inputs.map(([path, { bytesInOutput }]) => [path, bytesInOutput]));
  return { html, js: textOf("/page.js"), css: textOf("/page-style.css"), parts };
}

/** The folders and packages with the most bytes. */
function largestOf(parts: PageTexts["parts"]): string {
  const sums = new Map<string, number>();
  for (const [path, bytes] of parts) {
    const folder = /node_modules\/[^/]+|src\/client|src\/dashboard\/page\/\w+|src/.exec(path)?.[0] ?? path;
    sums.set(folder, (sums.get(folder) ?? 0) + bytes);
  }
  const largest = [...sums].toSorted(([, one], [, other]) => other - one).slice(0, 8);
  return largest.map(([folder, bytes]) => `${folder} (${bytes.toLocaleString("en")})`).join(", ");
}

function licenseOf(name: string): string {
  return `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8")}`;
}
