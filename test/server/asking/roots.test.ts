// Roots: what the client lets the server work on.
import type { JsonObject } from "halyard";
import { describe, expect, test } from "vitest";
import { askingTool, said } from "../../support/asking-tool.ts";
import { legacyDates, newestModern } from "../../support/raw.ts";

describe.each([newestModern, ...legacyDates])("ctx.roots · %s", (revision) => {
  const setup = (capabilities?: JsonObject): ReturnType<typeof askingTool> =>
    askingTool(async (_, ctx) => JSON.stringify(await ctx.roots()), {
      revision,
      ...(capabilities && { capabilities }),
    });

  test("has the list of the client [ROOTS-DELIVERY-LEGACY, ROOTS-DELIVERY-MODERN]", async () => {
    const { converse } = await setup();
    const roots = [{ uri: "file:///a", name: "A" }, { uri: "file:///b" }];
    const { result, asked } = await converse(() => ({ roots }));
    expect(asked).toMatchObject([{ method: "roots/list" }]);
    expect(said(result)).toBe(JSON.stringify(roots));
  });

  test("is -32021 for a client that declares none [ROOTS-SEC-SERVER]", async () => {
    const { ask } = await setup({ sampling: {} });
    await expect(ask()).rejects.toMatchObject({
      code: -32021,
      message: "roots/list: the client did not declare roots",
      data: { requiredCapabilities: { roots: {} } },
    });
  });

  test("is -32021 for a client that says it has none: false declares nothing [ROOTS-SEC-SERVER]", async () => {
    const { ask } = await setup({ roots: false });
    await expect(ask()).rejects.toMatchObject({
      code: -32021,
      message: "roots/list: the client did not declare roots",
      data: { requiredCapabilities: { roots: {} } },
    });
  });

  test.each<[JsonObject]>([[{}], [{ roots: "all" }], [{ roots: [{ name: "A" }] }], [{ roots: [null] }]])(
    "fails for an answer that is no list of roots: %o [ROOTS-SEC-SERVER]",
    async (answer) => {
      const { converse } = await setup();
      const outcome = await converse(() => answer).then(
        ({ result }) => String(said(result)),
        (error: Error) => error.message,
      );
      expect(outcome).toContain("roots must be an array of objects with a uri");
    },
  );
});

test("an entry for roots in a round is the bare request [ROOTS-DELIVERY-MODERN, MRTR-VALUES]", async () => {
  const { ask } = await askingTool(async (_, ctx) => JSON.stringify(await ctx.roots({ key: "where" })));
  expect((await ask())["inputRequests"]).toEqual({ where: { method: "roots/list" } });
});
