// Whatever is brought as a request state: it opens to what was sealed, or gives the one error, in a time that grows with its length.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { askingServer, begin, retry, type Say, type Turn, ways } from "../../support/asking-server.ts";

const refusal = { code: -32602, message: "Invalid or expired requestState" };
const kept = (state: unknown): Turn => ({
  method: "tools/call",
  params: { name: "keep", arguments: { state } },
});
const call = kept("something to be kept");
const runs = { numRuns: 300 };

/** Any characters, halves of surrogate pairs too. */
const anyText = fc.string({ unit: fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)) });

let say: Say;
let sealed: string;

beforeAll(async () => {
  const limits = { maxBytes: 16 * 1024 * 1024 };
  say = await ways.memory(askingServer({ maxBytes: 4 * 1024 * 1024 }, { limits }).server);
  sealed = await begin(say, call);
});

async function expectRefused(state: unknown): Promise<void> {
  expect(await say(retry(call, state))).toEqual({ jsonrpc: "2.0", id: 1, error: refusal });
}

test("a request state that is any JSON value is refused in the same words [MRTR-STATE-UNTRUSTED]", async () => {
  const anything = fc.oneof(fc.jsonValue(), anyText);
  await fc.assert(fc.asyncProperty(anything, expectRefused), runs);
});

test("a request state that begins like a real one is refused in the same words [MRTR-STATE-UNTRUSTED]", async () => {
  const base64url = fc.string({
    unit: fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
  });
  const body = fc.oneof(base64url, anyText, fc.base64String());
  const head = sealed.split(".").slice(0, 2).join(".");
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), (rest, hasDot) =>
      expectRefused(`${head}${hasDot ? "." : ""}${rest}`),
    ),
    runs,
  );
});

test("a real request state with any change is refused in the same words [MRTR-STATE-INTEGRITY]", async () => {
  const at = fc.nat(sealed.length);
  const change = fc.record({ at, remove: fc.nat(20), insert: fc.string({ maxLength: 20 }) });
  await fc.assert(
    fc.asyncProperty(change, async ({ at: from, remove, insert }) => {
      const changed = sealed.slice(0, from) + insert + sealed.slice(from + remove);
      fc.pre(changed !== sealed);
      await expectRefused(changed);
    }),
    runs,
  );
});

test("two real request states, put together anyhow, are refused in the same words [MRTR-STATE-INTEGRITY]", async () => {
  const other = await begin(say, call);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 12, max: sealed.length - 1 }), async (at) => {
      const spliced = sealed.slice(0, at) + other.slice(at);
      fc.pre(spliced !== sealed && spliced !== other);
      await expectRefused(spliced);
    }),
    runs,
  );
});

test("a request state of millions of characters is refused in the same words [MRTR-STATE-UNTRUSTED]", async () => {
  const head = sealed.split(".").slice(0, 2).join(".");
  for (const unit of [".", "A", "\u0000", "é", "𝄞", "=", " ", "%"]) {
    const filler = unit.repeat(1_000_000 / Buffer.byteLength(unit));
    for (const state of [filler, `${head}.${filler}`, sealed + filler]) await expectRefused(state);
  }
});

test("a request state opens to what was sealed, whatever JSON it is", async () => {
  const roundTrip = fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
    const turn = kept(value);
    const { result } = await say(retry(turn, await begin(say, turn)));
    const [content] = (result?.["content"] ?? []) as { text: string }[];
    expect(JSON.parse(content?.text ?? "")).toEqual(JSON.parse(JSON.stringify({ kept: value })));
  });
  await fc.assert(roundTrip, runs);
});

test("a request state opens for arguments that say the same, and for no others [MRTR-STATE-BINDING]", async () => {
  const bound = fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (one, other) => {
    const state = await begin(say, kept(one));
    expect((await say(retry(kept(reversed(one)), state))).error).toBeUndefined();
    const isSame = canonical(one) === canonical(other);
    const { error } = await say(retry(kept(other), state));
    expect(error).toEqual(isSame ? undefined : refusal);
  });
  await fc.assert(bound, runs);
});

/** The same value with the members of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}

function canonical(value: unknown): string | undefined {
  const sorted = (_: string, member: unknown): unknown =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [two]) => (one < two ? -1 : 1)))
      : member;
  return JSON.stringify(value, sorted);
}

/** The processor time that `work` takes at best, in microseconds. */
async function cost(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    const before = process.cpuUsage();
    for (let repeat = 0; repeat < 2; repeat++) await work();
    const { user, system } = process.cpuUsage(before);
    times.push(user + system);
  }
  return Math.min(...times);
}

test.each([
  ["of nothing but dots", "."],
  ["of a body that is not base64url", "!"],
  ["of white space", " "],
  ["of a body that could be one", "A"],
])("opening a request state %s takes a time that grows with its length, and no faster", async (_, unit) => {
  const head = unit === "." ? "" : `${sealed.split(".").slice(0, 2).join(".")}.`;
  const open = (length: number) => (): Promise<unknown> => say(retry(call, head + unit.repeat(length)));
  await open(500_000)();
  const [short, long] = [await cost(open(10_000)), await cost(open(1_000_000))];
  // A hundred times as long; what grows with the square would take ten thousand times as long.
  expect(long / short).toBeLessThan(600);
});

test("the digest of arguments takes a time that does not grow with how deep they are", async () => {
  const text = "x".repeat(500_000);
  const nested = (depth: number): unknown => (depth === 0 ? text : [nested(depth - 1), 0]);
  const refused = (depth: number) => (): Promise<unknown> => say(retry(kept(nested(depth)), sealed));
  await refused(50)();
  const [flat, deep] = [await cost(refused(1)), await cost(refused(50))];
  // To join the text of each level anew would take four times as long.
  expect(deep / flat).toBeLessThan(2.5);
});
