// Revisions are data: no code outside src/protocol/revisions/ names the date of one. Comments may.
import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { filesBelow } from "./files.ts";
import { endWith } from "./outcome.ts";

const home = "src/protocol/revisions/";
const dates = readdirSync(home).flatMap((file) => /^\d{4}-\d{2}-\d{2}/.exec(file)?.[0] ?? []);
// The dates as text, and as they stand in identifiers such as `revision20250618`.
const forbidden = dates.flatMap((date) => [date, date.replaceAll("-", "")]);

const files = filesBelow("src", ".ts").filter((file) => !file.startsWith(home));
const problems = files.flatMap((file) => datesIn(file, readFileSync(file, "utf8")));
endWith(problems, `No date of a revision in ${files.length} files outside ${home}`);

function datesIn(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source).filter((child) => !ts.isJSDoc(child));
    for (const child of children) visit(child);
    const date = children.length === 0 && forbidden.find((each) => node.getText(source).includes(each));
    if (!date) return;
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    const remedy = "give the table of the revision a property, and ask that";
    found.push(`${file}:${line + 1} names the revision ${date}: ${remedy}`);
  };
  visit(source);
  return found;
}
