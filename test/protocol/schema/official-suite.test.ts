// The official JSON-Schema-Test-Suite, for every draft that is supported, with the exceptions that are meant.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError, type JsonSchema } from "halyard";
import { describe, expect, test } from "vitest";
import { judging } from "../../support/judging.ts";
import { isInstalled, schemaTests } from "../../support/programs.ts";

const isThere = isInstalled("schema-tests");

interface Group {
  readonly file: string;
  readonly description: string;
  readonly schema: JsonSchema | boolean;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const dialects = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
};

/** What Halyard does instead of what the suite says. */
interface Exception {
  readonly why: string;
  /** The files, and the groups of one of them if not all. */
  readonly where: RegExp;
  /** That registering the schema fails so, or that invalid values are taken, or that valid ones are refused. */
  readonly instead: RegExp | "taken" | "refused";
  /** Whether only newer editions than Debian's have such tests. */
  readonly isNew?: true;
}

const exceptions: readonly Exception[] = [
  {
    why: "a schema is never fetched, so one that refers to another document, or to its own metaschema, is refused",
    where:
      /^refRemote:|^(defs|definitions): validate definition against metaschema|^ref: (remote ref, containing refs itself|URN base URI with f-comp)|^optional\/cross-draft:|^anchor: invalid anchors|^id: (Invalid use|Valid use|Unnormalized)|^optional\/ecmascript-regex: \\a is not/,
    instead: /points outside the schema and is never fetched/,
  },
  {
    why: "the same: the other document of these is tree.json, extendible-dynamic-ref.json or detached-dynamicref.json",
    where:
      /^dynamicRef: (strict-tree|tests for implementation dynamic|\$ref and \$dynamicAnchor are|\$ref to \$dynamicRef finds)/,
    instead: /points outside the schema and is never fetched/,
  },
  {
    why: "the same for dialects of one's own, which only their metaschema describes",
    where:
      /^(vocabulary|optional\/format-assertion): (schema that uses custom metaschema|ignore unrecognized optional)/,
    instead: /the dialect .* is not supported/,
  },
  {
    why: "draft-04 is published as 2020-12, where a list of items has another name, so a pointer into it is refused",
    where: /^ref: relative pointer ref to array/,
    instead: /the \$ref "#\/items\/0" has no target/,
  },
  {
    why: "format is checked, as MCP servers expect, also where a draft has it as an annotation unless one asks for more",
    where: /^format: .* format$/,
    instead: "refused",
    isNew: true,
  },
  {
    why: "formats of international names need tables of Unicode that would double the validator: they are annotations",
    where: /^optional\/format\/(idn-email|idn-hostname|iri|iri-reference):/,
    instead: "taken",
  },
  {
    why: "a label of a host name in Punycode is not decoded, for the same reason",
    where: /^optional\/format\/hostname: validation of A-label/,
    instead: "taken",
    isNew: true,
  },
  {
    why: "contentEncoding and contentMediaType are annotations, as every later draft has them",
    where: /^optional\/content:/,
    instead: "taken",
  },
  {
    why: "JSON.parse makes the same number of 1.0 and 1",
    where: /^optional\/zeroTerminatedFloats:/,
    instead: "taken",
  },
];

const used = new Set<Exception>();

/** What differs from the suite, in words. An exception that applies is not reported. */
async function differences($schema: string, group: Group): Promise<string[]> {
  const { file, description, schema, tests } = group;
  const exception = exceptions.find(({ where }) => where.test(`${file}: ${description}`));
  const found: string[] = [];
  const report = (instead: RegExp | "taken" | "refused", what: string): void => {
    const isMeant = String(exception?.instead) === String(instead);
    if (exception !== undefined && isMeant) used.add(exception);
    else found.push(`${description}: ${what}`);
  };
  const whole = typeof schema === "boolean" ? { $schema, allOf: [schema] } : { $schema, ...schema };
  try {
    await judging(whole, async (judge) => {
      for (const one of tests) {
        const fits = await judge(one.data);
        if (fits !== one.valid) report(fits ? "taken" : "refused", `${one.description} is ${fits}`);
      }
    });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const { instead = "taken" } = exception ?? {};
    const isMeant = instead instanceof RegExp && instead.test(error.message);
    report(isMeant ? instead : /./, error.message);
  }
  return found;
}

/** The groups of a draft, each with the name of its file, such as `optional/format/date`. */
function groupsOf(draft: string): Group[] {
  const root = join(schemaTests, draft);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".json"),
  );
  return files.flatMap((file) => {
    const groups = JSON.parse(readFileSync(join(root, file), "utf8")) as Omit<Group, "file">[];
    return groups.map((group) => Object.assign(group, { file: file.replace(/\.json$/, "") }));
  });
}

describe.runIf(isThere).each(Object.entries(dialects))("%s", (draft, dialect) => {
  const groups = isThere ? groupsOf(draft) : [];
  const files = new Set(groups.map(({ file }) => file));

  test.each([...files])("%s holds", async (file) => {
    const found: string[] = [];
    for (const group of groups) if (group.file === file) found.push(...(await differences(dialect, group)));
    expect(found).toEqual([]);
  });
});

test.runIf(isThere)("every exception is still one", () => {
  const isNewer = process.env["HALYARD_SCHEMA_TESTS"] !== undefined;
  const unused = exceptions.filter((exception) => !used.has(exception) && (isNewer || !exception.isNew));
  expect(unused.map(({ why }) => why)).toEqual([]);
});
