// The fuzzer itself: it finds what is wrong, makes it small, says how to repeat it, and starts no alarm without a reason.
import { expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";
import { decodeInput, type Input } from "./input.ts";
import type { Running, Target } from "./target.ts";

const options = { seed: 1, milliseconds: 200, known: [] };
const calm = { heap: undefined, sessions: 0, handles: {} };

/** A target that answers each input as `judge` says; `starts` counts how often it was started. */
function fakeTarget(judge: (input: Input, start: number) => string | undefined): Target {
  let starts = 0;
  return {
    name: "fake",
    input: (random) => {
      const text = Array.from({ length: 40 }, () => random.pick(["a", "b", "c", "!"])).join("");
      return { kind: "text", text, cuts: [3], complete: false };
    },
    async start(): Promise<Running> {
      const start = ++starts;
      return {
        send: async (input) => judge(input, start),
        check: async () => undefined,
        rest: async () => calm,
        close: async () => {},
      };
    },
  };
}

test("runCampaign() throws with the smallest input that does it, and a command that holds it", async () => {
  const target = fakeTarget(({ text }) =>
    text.includes("!") && text.includes("b") ? "status 500" : undefined,
  );
  const failure = await runCampaign(target, options).catch((error: unknown) => error as Error);
  const { message } = failure as Error;
  expect(message).toContain("fake, seed 1: status 500");
  const [, word = ""] = /HALYARD_FUZZ_INPUT=(\S+) npx vitest run test\/fuzz/.exec(message) ?? [];
  const { inputs } = decodeInput(word);
  expect([...(inputs[0]?.text ?? "")].toSorted().join("")).toBe("!b");
});

test("runCampaign() goes on after a hang that does not come again, and reports it", async () => {
  const target = fakeTarget((_, start) => (start === 1 ? "no answer within a second" : undefined));
  const report = await runCampaign(target, options);
  expect(report.unconfirmed).toEqual(["no answer within a second"]);
  expect(report.inputs["text"]).toBeGreaterThan(32);
});

test("runCampaign() does not forgive anything else that does not come again", async () => {
  const target = fakeTarget((_, start) => (start === 1 ? "an unhandled rejection" : undefined));
  await expect(runCampaign(target, options)).rejects.toThrow("an unhandled rejection");
});

test("runCampaign() makes the same inputs of the same seed, and others of another", async () => {
  const seen = async (seed: number): Promise<string[]> => {
    const texts: string[] = [];
    const target = fakeTarget(({ text }) => void texts.push(text));
    await runCampaign(target, { ...options, seed, milliseconds: 20 });
    return texts.slice(0, 32);
  };
  expect(await seen(5)).toEqual(await seen(5));
  expect(await seen(5)).not.toEqual(await seen(6));
});
