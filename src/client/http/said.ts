// Extracts the message of a refusal from its body as one short line: from JSON, the visible text of a page, or the first line of
// a text.
import { clip } from "../../base/errors.ts";
import { isObject } from "../../base/wire/message.ts";
import { printable } from "../settings/shown.ts";

/** The members in which servers and gateways put their message, in order of preference. */
const members = ["error_description", "message", "detail", "title", "error"];

/** Elements whose content is not shown. */
const unseen = new Set(["script", "style", "noscript", "template", "svg"]);

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};

/**
 * Returns one line, bounded and printable; empty if there is no message. `body` is the start of one, a few thousand characters at
 * most.
 */
export function saidBy(body: string): string {
  const text = body.trim();
  const [line = ""] = text.split(/[\r\n]/, 1);
  const said = /^<[!a-z?]/i.test(text) ? pageText(text) : (messageIn(text) ?? line);
  return clip(printable(said.replaceAll(/\s+/g, " ").trim()));
}

function messageIn(text: string): string | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return messageOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function messageOf(value: unknown): string | undefined {
  if (typeof value === "string") return value || undefined;
  if (!isObject(value)) return undefined;
  if (isObject(value["error"])) return messageOf(value["error"]);
  for (const member of members) if (typeof value[member] === "string" && value[member]) return value[member];
  return undefined;
}

/** The title and the visible text of a page, in one pass over its characters. */
function pageText(page: string): string {
  const lower = page.toLowerCase();
  let title = "";
  let text = "";
  for (let at = 0; at < page.length;) {
    const open = page.indexOf("<", at);
    text += ` ${page.slice(at, open < 0 ? undefined : open)}`;
    if (open < 0) break;
    const [, name = ""] = /^<([a-z]*)/.exec(lower.slice(open, open + 12)) ?? [];
    const isComment = page.startsWith("<!--", open);
    const end = isComment ? page.indexOf("-->", open) : page.indexOf(">", open);
    if (end < 0) break;
    at = end + (isComment ? 3 : 1);
    if (name !== "title" && !unseen.has(name)) continue;
    const close = lower.indexOf(`</${name}`, at);
    if (name === "title") title = page.slice(at, close < 0 ? undefined : close).trim();
    at = close < 0 ? page.length : close;
  }
  const visible = decoded(text).replaceAll(/\s+/g, " ").trim();
  const named = decoded(title).replaceAll(/\s+/g, " ");
  return visible.startsWith(named) ? visible : visible === "" ? named : `${named}: ${visible}`;
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,6}|x[\da-f]{1,5})|(\w{2,6}));/gi, (whole, code?: string, name = "") =>
    code === undefined ? (entities[name] ?? whole) : visibleOf(Number(code.replace(/x/i, "0x"))),
  );
}

/** The character. An invisible one becomes a blank, because it may split a secret, which would then escape redaction. */
function visibleOf(code: number): string {
  return String.fromCodePoint(code).replace(/\p{C}/u, " ");
}
