// Patterns of schemas match what RegExp matches, whatever the expression is.
import fc from "fast-check";
import { expect, test } from "vitest";
import { judging } from "../../support/judging.ts";

const atoms = [
  ..."ab1_é😀",
  ".",
  "\\d",
  "\\D",
  "\\w",
  "\\W",
  "\\s",
  "\\S",
  "\\p{L}",
  "\\P{Lu}",
  "\\p{Script=Greek}",
  "\\p{Cs}",
  "\\p{Emoji}",
  "[a-c1]",
  "[^a]",
  "[^]",
  "[]",
  "[\\p{Lu}\\d_-]",
  "[^\\p{L}\\s]",
  "[\\P{L}b]",
  "[\\b😀-😂]",
  "\\u{1F600}",
  "\\ud83d\\ude00",
  "\\ud83d",
  "\\x61",
  "\\cJ",
  "\\n",
  "(?:\\0)",
  "\\/",
];
const assertions = ["^", "$", "\\b", "\\B"];
const quantifiers = ["", "", "*", "+", "?", "{2}", "{0}", "{1,3}", "{2,}", "*?", "{0,2}?"];
const { regex } = fc.letrec<{ regex: string; sequence: string; part: string; atom: string }>((tie) => ({
  regex: fc.array(tie("sequence"), { minLength: 1, maxLength: 3 }).map((options) => options.join("|")),
  sequence: fc.array(tie("part"), { maxLength: 4 }).map((parts) => parts.join("")),
  part: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...assertions) },
    {
      weight: 5,
      arbitrary: fc.tuple(tie("atom"), fc.constantFrom(...quantifiers)).map(([atom, times]) => atom + times),
    },
  ),
  atom: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: fc.constantFrom(...atoms) },
    { weight: 1, arbitrary: tie("regex").map((inside) => `(?:${inside})`) },
    { weight: 1, arbitrary: tie("regex").map((inside) => `(${inside})`) },
  ),
}));
const texts = fc.string({
  unit: fc.constantFrom(..."abAB1_ éÄαΩ-\n\u2028", "😀", "\ud83d", "\ude00"),
  maxLength: 8,
});

test("a pattern without look-around and back-references matches what RegExp matches, without a warning", async () => {
  const several = fc.array(texts, { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(regex, several, async (pattern, given) => {
      const expression = new RegExp(pattern, "uy");
      await judging({ pattern }, async (judge, warnings) => {
        expect(warnings).toEqual([]);
        for (const text of given)
          expect([text, await judge(text)]).toEqual([text, matchesSomewhere(expression, text)]);
      });
    }),
    { numRuns: 800 },
  );
});

test("an expression is refused exactly if RegExp refuses it", async () => {
  const pieces = fc.constantFrom(
    ..."()[]{}|*+?^$.-\\1,ka<>=!:P",
    ..."pu",
    "\\p{L}",
    "\\p{X}",
    "(?<a>",
    "\\k<a>",
    "{2,1}",
    "[b-a]",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 6 }), async (chosen) => {
      const pattern = chosen.join("");
      const isValid = await judging({ pattern }, async () => true).catch(() => false);
      expect([pattern, isValid]).toEqual([pattern, canBeRegExp(pattern)]);
    }),
    { numRuns: 1500 },
  );
});

/** As the language specifies it: the search of V8 also tries `\\B` between the halves of a surrogate pair. */
function matchesSomewhere(sticky: RegExp, text: string): boolean {
  let start = 0;
  for (const character of [...text, ""]) {
    sticky.lastIndex = start;
    if (sticky.test(text)) return true;
    start += character.length;
  }
  return false;
}

function canBeRegExp(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
