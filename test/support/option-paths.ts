// The options of the entry points as the compiler sees them: the path, the type and the place of each, those inside others included.
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { type EntryPoint, entryPoints } from "./entry-points.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** One name on the way to an option. */
interface Step {
  readonly name: string;
  /** Whether a list holds what is inside. */
  readonly isList: boolean;
}

/** An option of an entry point. */
export interface OptionPath {
  readonly path: string;
  readonly steps: readonly Step[];
  readonly type: ts.Type;
}

/** What an option holds that is no further options: names of the author's or of the protocol's, schemas, backplanes. */
const opaque = new Set(
  "_meta backplane input output arguments complete requires logger auth jwks scopeHierarchy settings requests listens metadata modelPreferences tools toolChoice structured content meta capabilities remembered servers store privateKey dashboard principal params result".split(
    " ",
  ),
);

const program = ts.createProgram(
  [...new Set(Object.values(entryPoints).map(({ type: [file] }) => root + file))],
  { ...configOptions(), noEmit: true },
);
export const checker: ts.TypeChecker = program.getTypeChecker();

function configOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  return ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
}

/** All options of an entry point. */
export function optionsOf(entry: string): OptionPath[] {
  const { type } = entryPoints[entry] as EntryPoint;
  const [file, name] = type;
  const source = program.getSourceFile(root + file);
  const module = source && checker.getSymbolAtLocation(source);
  const symbol = module && checker.getExportsOfModule(module).find((exported) => exported.name === name);
  if (symbol === undefined) throw new Error(`${file} exports no ${name}`);
  return optionsIn(entry, checker.getDeclaredTypeOfSymbol(symbol), []);
}

function optionsIn(entry: string, type: ts.Type, before: readonly Step[]): OptionPath[] {
  return checker.getPropertiesOfType(type).flatMap((property) => {
    const inner = checker.getTypeOfSymbol(property);
    const parts = partsOf(inner);
    const isList = parts.some((part) => checker.isArrayType(part));
    const steps = [...before, { name: property.name, isList }];
    const path = steps.map(({ name }) => name).join(".");
    const here: OptionPath = { path, steps, type: inner };
    const isServer = entry === "new McpServer" && path === "capabilities";
    if (opaque.has(property.name) && !isServer) return [here];
    const deeper = parts.flatMap((part) => optionsIn(entry, furtherOptions(part), steps));
    const paths = deeper.map((found) => found.path);
    return [here].concat(deeper.filter((found, index) => paths.indexOf(found.path) === index));
  });
}

export function partsOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type];
}

const nothing = checker.getUndefinedType();

/** The type of further options that a value of `type` may be, or that a list holds. */
function furtherOptions(type: ts.Type): ts.Type {
  if (checker.isArrayType(type)) {
    const [item = nothing] = checker.getTypeArguments(type as ts.TypeReference);
    return furtherOptions(item);
  }
  const isRecord = checker.getPropertiesOfType(type).length === 0;
  const isObject = (type.flags & ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0;
  const places = type.symbol?.declarations?.map((place) => place.getSourceFile().fileName) ?? [];
  const isOurs =
    type.aliasSymbol?.name === "Partial" || places.some((file) => file.startsWith(`${root}src/`));
  return isObject && isOurs && !isRecord ? type : nothing;
}

/** Options with one value at the end of the steps, besides those that an entry point needs. */
export function withOption(
  { steps }: OptionPath,
  value: unknown,
  needed: object = {},
  last = steps.at(-1)?.name ?? "",
): object {
  const outer = steps.slice(0, -1);
  const inner = outer.reduceRight<object>((held, { name, isList }) => ({ [name]: isList ? [held] : held }), {
    [last]: value,
  });
  return { ...needed, ...inner };
}

/** What an entry point throws, or rejects with, for these options; undefined if it takes them. */
export async function refusalOf({ give }: EntryPoint, options: unknown): Promise<unknown> {
  try {
    const made: unknown = await give(options as never);
    const { close } = Object(made) as { close?: () => unknown };
    await close?.call(made);
    return undefined;
  } catch (error) {
    return error;
  }
}
