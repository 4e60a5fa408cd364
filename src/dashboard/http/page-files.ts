// The files of the page: built into one compressed text, and loaded with the first request for one.
import { later } from "../../base/async/later.ts";
import { bytesFromBase64 } from "../../base/wire/base64.ts";

type Texts = Readonly<Record<"html" | "js" | "css", string>>;

const page = later(
  () => import("#dashboard-page"),
  async ({ packed }) => {
    const bytes = new Blob([bytesFromBase64(packed)]).stream();
    return (await new Response(bytes.pipeThrough(new DecompressionStream("gzip"))).json()) as Texts;
  },
);

/** By the last segment of a path. */
const files = {
  "": { text: "html", type: "text/html; charset=utf-8" },
  "page.js": { text: "js", type: "text/javascript; charset=utf-8" },
  "page.css": { text: "css", type: "text/css; charset=utf-8" },
} as const;

export type PageFile = keyof typeof files;

export function isPageFile(segment: string | undefined): segment is PageFile {
  return segment !== undefined && Object.hasOwn(files, segment);
}

/** The text and the content type of a file. */
export async function readPageFile(name: PageFile): Promise<{ text: string; type: string }> {
  const { text, type } = files[name];
  return { text: (await page.get())[text], type };
}
