// The files of the page: built into strings, and loaded when somebody first wants to see them.
import { type Later, later } from "../../async/later.ts";

const types = {
  "page.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
} as const;

/** What `#dashboard-page` exports. */
export type PageFiles = { readonly [Name in PageFile]: string };
export type PageFile = keyof typeof types;

const files: Later<PageFiles> = later(
  () => import("#dashboard-page"),
  (module) => module.files,
);

/** The file behind the last segment of a path; undefined if it is none. */
export function pageFileAt(segment: string | undefined): PageFile | undefined {
  const name = segment === "" ? "page.html" : segment;
  return name !== undefined && Object.hasOwn(types, name) ? (name as PageFile) : undefined;
}

/** The text and the type of a file. */
export async function readPageFile(name: PageFile): Promise<{ type: string; text: string }> {
  return { type: types[name], text: (await files.get())[name] };
}
