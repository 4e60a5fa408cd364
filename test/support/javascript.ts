// Makes plain JavaScript of a TypeScript sample.
import ts from "typescript";

/** The sample without its types; nothing else is rewritten, so Node must be able to parse what is left. */
export function removeTypes(code: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}
