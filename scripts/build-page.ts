// Builds the dashboard's page into one text, so that a server that shows it needs no files beside its own code.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";

const folder = "src/dashboard/page";
/** What the page may cost those who install the package: a quarter of them is the client, a fifth the plots. */
const mostBytes = 250_000;

/** A seventh of the page would check the results of tools against their schemas: the client works without, and says so. */
const leaveOutValidator: Plugin = {
  name: "leave-out-validator",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/schema\/json-schema\.ts$/ }, () => ({
      contents: `export const jsonSchemaProblem = () => "is not checked by this page";
        export const compileJsonSchema = jsonSchemaProblem;`,
    })),
};

/** The three texts of the page. */
export interface PageTexts {
  readonly html: string;
  readonly js: string;
  readonly css: string;
}

/** The files of `dist/` that hold the page, by path. Throws if the page is too large. */
export async function buildPage(): Promise<Map<string, string>> {
  const json = JSON.stringify(await bundlePage());
  const packed = gzipSync(json, { level: 9 }).toString("base64");
  const [bytes, most, whole] = [packed.length, mostBytes, json.length].map((each) =>
    each.toLocaleString("en"),
  );
  if (packed.length > mostBytes)
    throw new Error(`The dashboard's page has ${bytes} bytes, ${most} are allowed`);
  console.log(`The dashboard's page: ${bytes} of ${most} bytes, ${whole} unpacked`);
  return new Map([
    ["dist/dashboard/page/index.js", `export const packed = "${packed}";\n`],
    ["dist/dashboard/page/index.d.ts", "export declare const packed: string;\n"],
  ]);
}

/** One script and one style sheet. The client comes from its sources, since the package may not be built yet. */
export async function bundlePage(): Promise<PageTexts> {
  const { outputFiles } = await build({
    entryPoints: { page: `${folder}/main.tsx`, "page-style": `${folder}/styles/index.css` },
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
  });
  const textOf = (path: string): string => {
    const file = outputFiles.find((output) => output.path === path);
    if (file === undefined) throw new Error(`The bundler wrote no ${path}`);
    return file.text;
  };
  const html = readFileSync(`${folder}/page.html`, "utf8");
  return { html, js: textOf("/page.js"), css: textOf("/page-style.css") };
}
