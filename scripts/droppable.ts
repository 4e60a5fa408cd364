// Rewrites a built file so that the bundlers of users can leave out every constant of it that they do not use.
import ts from "typescript";

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const PURE = "/* @__PURE__ */";
const plainKeywords = new Set([
  ts.SyntaxKind.TrueKeyword,
  ts.SyntaxKind.FalseKeyword,
  ts.SyntaxKind.NullKeyword,
]);

/**
 * Marks what a constant is computed from as free of side effects, which is true of the whole package, and which bundlers
 * cannot see where it is a call or reads a property. Removes comments, and imports that would only run a file.
 */
export function makeDroppable(path: string, code: string): string {
  const file = ts.createSourceFile(path, code, ts.ScriptTarget.ESNext, true);
  const edits = [...file.statements.flatMap(editsOf), ...commentsIn(file)];
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((text, { start, end, text: put }) => text.slice(0, start) + put + text.slice(end), code);
}

function editsOf(statement: ts.Statement): Edit[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(mark);
  if (ts.isImportDeclaration(statement) && statement.importClause === undefined)
    return [{ start: statement.getStart(), end: statement.end + 1, text: "" }];
  if (ts.isExpressionStatement(statement))
    throw new Error(`"sideEffects": false is not true, move this into a declaration: ${statement.getText()}`);
  return [];
}

/** Marks the calls in a value; where they are not all that bundlers doubt, computes it in a function whose call is marked. */
function mark({ name, initializer }: ts.VariableDeclaration): Edit[] {
  if (initializer === undefined) return [];
  const calls = callsIn(initializer);
  if (calls !== undefined) return calls.map((call) => insert(call.getStart(), `${PURE} `));
  const start = initializer.getStart();
  const isNameless = ts.isClassExpression(initializer) && initializer.name === undefined;
  return [
    insert(start, `${PURE} (() => (`),
    ...(isNameless ? [insert(start + "class".length, ` ${name.getText()}`)] : []),
    insert(initializer.end, "))()"),
  ];
}

function insert(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

/** The unmarked calls in a value that has nothing else that could do something; undefined where it has. */
function callsIn(value: ts.Expression): ts.Expression[] | undefined {
  if (ts.isCallExpression(value) || ts.isNewExpression(value)) {
    const given = value.arguments ?? [];
    const inside = given.some(calculates) ? undefined : callsInAll(given);
    if (isMarked(value)) return inside;
    return ts.isIdentifier(value.expression) && inside ? [value, ...inside] : undefined;
  }
  if (ts.isArrayLiteralExpression(value)) return callsInAll(value.elements);
  if (ts.isObjectLiteralExpression(value)) {
    const values = value.properties.map(valueOf);
    return values.includes(undefined) ? undefined : callsInAll(values as ts.Expression[]);
  }
  return isPlain(value) ? [] : undefined;
}

function callsInAll(values: readonly ts.Expression[]): ts.Expression[] | undefined {
  const calls = values.map(callsIn);
  return calls.includes(undefined) ? undefined : (calls as ts.Expression[][]).flat();
}

/** Whether a value has arithmetic in it, for which esbuild keeps a marked call that it is passed to. */
function calculates(value: ts.Node): boolean {
  return ts.isBinaryExpression(value) || ts.forEachChild(value, calculates) === true;
}

/** Whether the bundler that built this has marked it. */
function isMarked(value: ts.Expression): boolean {
  return value.getFullText().trimStart().startsWith(PURE);
}

/** What a property is computed from, its own name if nothing; undefined where bundlers doubt the property itself. */
function valueOf(property: ts.ObjectLiteralElementLike): ts.Expression | undefined {
  if (ts.isSpreadAssignment(property) || ts.isComputedPropertyName(property.name)) return undefined;
  return ts.isPropertyAssignment(property) ? property.initializer : (property.name as ts.Expression);
}

/** Whether every bundler sees that evaluating it does nothing else. They doubt arithmetic: it could call a method of an object. */
function isPlain(value: ts.Expression): boolean {
  if (ts.isClassExpression(value)) return value.members.every(isPlainMember);
  if (ts.isPrefixUnaryExpression(value)) return isPlain(value.operand);
  return (
    ts.isLiteralExpression(value) ||
    ts.isIdentifier(value) ||
    ts.isFunctionExpression(value) ||
    ts.isArrowFunction(value) ||
    ts.isVoidExpression(value) ||
    plainKeywords.has(value.kind)
  );
}

function isPlainMember(member: ts.ClassElement): boolean {
  const isStaticValue =
    ts.isClassStaticBlockDeclaration(member) || (ts.isPropertyDeclaration(member) && isStatic(member));
  return !isStaticValue && (member.name === undefined || !ts.isComputedPropertyName(member.name));
}

function isStatic(member: ts.PropertyDeclaration): boolean {
  return member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) ?? false;
}

/** The lines of comments before `node` and before what is in it, but for marks. */
function* commentsIn(node: ts.Node, seenUpTo = -1): Generator<Edit> {
  const { text } = node.getSourceFile();
  const comments = node.pos > seenUpTo ? ts.getLeadingCommentRanges(text, node.pos) : [];
  for (const { pos, end } of comments ?? [])
    if (text.slice(pos, end) !== PURE)
      yield { start: text.lastIndexOf("\n", pos) + 1, end: end + 1, text: "" };
  const inside: ts.Node[] = [];
  ts.forEachChild(node, (child) => void inside.push(child));
  for (const child of inside) yield* commentsIn(child, node.pos);
}
