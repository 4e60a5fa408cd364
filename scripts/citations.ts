// Which requirements the tests cite: the ids in square brackets at the end of test and describe titles, and of the names of rows.
import { readFileSync } from "node:fs";
import ts from "typescript";
import { filesBelow } from "./files.ts";

/** One id in the title of one test. */
export interface Citation {
  readonly id: string;
  /** The file and line of the title. */
  readonly where: string;
}

const callees = new Set(["test", "it", "describe", "describeMatrix"]);
const brackets = /\[([^[\]]+)\]$/;
const idShape = /^[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+$/;

/** Every citation in the test files. A test that is skipped shows nothing, so it cites nothing. */
export function readCitations(): Citation[] {
  return filesBelow("test", ".test.ts", ".test-d.ts").flatMap((file) =>
    citationsOf(file, readFileSync(file, "utf8")),
  );
}

function citationsOf(file: string, text: string): Citation[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const citations: Citation[] = [];
  const visit = (node: ts.Node): void => {
    const isTest = ts.isCallExpression(node) && isTestCall(node.expression);
    const title = isTest ? node.arguments[0] : isRowName(node) ? node : undefined;
    if (title !== undefined) {
      const { line } = source.getLineAndCharacterOfPosition(title.getStart());
      for (const id of idsOf(endOfTitle(title))) citations.push({ id, where: `${file}:${line + 1}` });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return citations;
}

/** `test`, `test.each(rows)`, `describe.concurrent` and their like, but none that is skipped. */
function isTestCall(callee: ts.Node): boolean {
  if (ts.isIdentifier(callee)) return callees.has(callee.text);
  if (ts.isPropertyAccessExpression(callee)) {
    return !["skip", "todo", "fails"].includes(callee.name.text) && isTestCall(callee.expression);
  }
  return ts.isCallExpression(callee) && isTestCall(callee.expression);
}

/** A text in a row of `test.each`, which may be a list or a table with names. */
function isRowName(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) && ts.isArrayLiteralExpression(node.parent);
}

function endOfTitle(title: ts.Node): string {
  if (ts.isStringLiteralLike(title)) return title.text;
  if (ts.isTemplateExpression(title)) return title.templateSpans.at(-1)?.literal.text ?? "";
  if (ts.isBinaryExpression(title)) return endOfTitle(title.right);
  return "";
}

function idsOf(title: string): string[] {
  const parts = brackets.exec(title)?.[1]?.split(", ") ?? [];
  // Brackets that hold no id at all are part of the sentence.
  return parts.some((part) => idShape.test(part)) ? parts : [];
}
