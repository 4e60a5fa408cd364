// completion/complete: the completer it calls, the values it returns, and the requests it refuses.
import { expect, test } from "vitest";
import * as z from "zod";
import { makeServer, open, refusal } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

const prompt = (name: string) => ({ type: "ref/prompt", name });
const template = (uri: string) => ({ type: "ref/resource", uri });
const cities = ["Oslo", "Bergen", "Bodø"];

describeMatrix("completion", {}, (cell) => {
  const isDeclared = (capabilities: object): boolean => "completions" in capabilities;

  test("the capability is declared when there is a completer, from 2025-03-26; without one the method is unknown [COMP-CAP, COMP-ERR]", async () => {
    const { server } = makeServer();
    server.prompt("p", { arguments: z.object({ city: z.string() }) }, () => "");
    const client = await open(cell, server);
    const params = { ref: prompt("p"), argument: { name: "city", value: "" } };
    expect(isDeclared(server.capabilities(cell.revision))).toBe(false);
    expect((await refusal(client.request("completion/complete", params))).code).toBe(-32601);
    server.prompt("q", { arguments: z.object({ city: z.string() }), complete: { city: () => [] } }, () => "");
    expect(isDeclared(server.capabilities(cell.revision))).toBe(cell.revision >= "2025-03-26");
    expect(await client.request("completion/complete", params)).toMatchObject({ completion: { values: [] } });
  });

  test("a template's completer or a global one declares the capability as well [COMP-CAP]", () => {
    const { server: byTemplate } = makeServer();
    byTemplate.resourceTemplate("a:///{id}", { complete: { id: () => [] } }, () => "");
    const { server: global } = makeServer();
    global.completion(() => []);
    for (const server of [byTemplate, global]) {
      expect(isDeclared(server.capabilities(cell.revision))).toBe(cell.revision >= "2025-03-26");
    }
  });

  test("each argument has its own completer, which sees the value and the other arguments", async () => {
    const { server } = makeServer();
    server.prompt(
      "trip",
      {
        arguments: z.object({ country: z.string(), city: z.string() }),
        complete: {
          country: (value) => ["Norway", "Sweden"].filter((name) => name.startsWith(value)),
          city: async (value, others) => [`${value}@${others["country"] ?? "?"}`],
        },
      },
      () => "",
    );
    server.resourceTemplate(
      "city:///{name}",
      { complete: { name: (value) => cities.filter((city) => city.startsWith(value)) } },
      () => "",
    );
    const client = await open(cell, server);
    const complete = async (ref: object, name: string, value: string, args?: object): Promise<unknown> =>
      (
        await client.request("completion/complete", {
          ref,
          argument: { name, value },
          ...(args && { context: { arguments: args } }),
        })
      )["completion"];
    expect(await complete(prompt("trip"), "country", "N")).toEqual({
      values: ["Norway"],
      total: 1,
      hasMore: false,
    });
    expect(await complete(prompt("trip"), "city", "O", { country: "NO" })).toMatchObject({
      values: ["O@NO"],
    });
    expect(await complete(prompt("trip"), "city", "O")).toMatchObject({ values: ["O@?"] });
    expect(await complete(template("city:///{name}"), "name", "B")).toMatchObject({
      values: ["Bergen", "Bodø"],
    });
  });

  test("an argument without a completer has no suggestions, whatever its name [COMP-SEC]", async () => {
    const { server } = makeServer();
    server.prompt(
      "p",
      { arguments: z.object({ a: z.string(), b: z.string() }), complete: { a: () => ["x"] } },
      () => "",
    );
    const client = await open(cell, server);
    for (const name of ["b", "toString", "__proto__", "constructor"]) {
      const answer = await client.request("completion/complete", {
        ref: prompt("p"),
        argument: { name, value: "" },
      });
      expect(answer).toMatchObject({ completion: { values: [], total: 0, hasMore: false } });
    }
  });

  test.each([
    [99, 99, false],
    [100, 100, false],
    [101, 100, true],
    [250, 100, true],
  ])(
    "of %i suggestions %i are sent, with the total and whether there are more [COMP-MAX-100]",
    async (size, sent, hasMore) => {
      const { server } = makeServer();
      const all = Array.from({ length: size }, (_, index) => `v${index}`);
      server.prompt("p", { arguments: z.object({ a: z.string() }), complete: { a: () => all } }, () => "");
      const client = await open(cell, server);
      const { completion } = await client.request("completion/complete", {
        ref: prompt("p"),
        argument: { name: "a", value: "" },
      });
      expect(completion).toEqual({ values: all.slice(0, sent), total: size, hasMore });
    },
  );

  test("a completer may say how many there are in all [COMP-MAX-100]", async () => {
    const { server } = makeServer();
    const many = Array.from({ length: 120 }, (_, index) => `${index}`);
    const answers: Record<string, { values: string[]; total?: number; hasMore?: boolean }> = {
      total: { values: ["a"], total: 5000 },
      more: { values: ["a"], hasMore: true },
      cut: { values: many, hasMore: false },
    };
    server.prompt(
      "p",
      { arguments: z.object({ a: z.string() }), complete: { a: (value) => answers[value] ?? [] } },
      () => "",
    );
    const client = await open(cell, server);
    const complete = async (value: string): Promise<unknown> =>
      (await client.request("completion/complete", { ref: prompt("p"), argument: { name: "a", value } }))[
        "completion"
      ];
    expect(await complete("total")).toEqual({ values: ["a"], total: 5000, hasMore: true });
    expect(await complete("more")).toMatchObject({ values: ["a"], hasMore: true });
    expect(await complete("cut")).toMatchObject({ values: many.slice(0, 100), total: 120, hasMore: true });
  });

  test("the global handler is asked first, and what it leaves goes to the argument's completer", async () => {
    const { server } = makeServer();
    const asked: unknown[] = [];
    server.completion(async (request) => {
      asked.push(request);
      return request.argument.value === "g" ? ["global"] : undefined;
    });
    server.prompt("p", { arguments: z.object({ a: z.string() }), complete: { a: () => ["own"] } }, () => "");
    server.resource("note:///a", {}, () => "");
    const client = await open(cell, server);
    const complete = async (value: string, ref: object = prompt("p")): Promise<unknown> =>
      (await client.request("completion/complete", { ref, argument: { name: "a", value } }))["completion"];
    expect(await complete("g")).toMatchObject({ values: ["global"] });
    expect(await complete("x")).toMatchObject({ values: ["own"] });
    expect(await complete("x", template("note:///a"))).toMatchObject({ values: [] });
    expect(asked[0]).toEqual({ ref: prompt("p"), argument: { name: "a", value: "g" }, context: {} });
  });

  test.each([
    ["an unknown prompt", { ref: prompt("nope"), argument: { name: "a", value: "" } }],
    ["the name of a built-in", { ref: prompt("constructor"), argument: { name: "a", value: "" } }],
    ["an unknown template", { ref: template("no:///{such}"), argument: { name: "a", value: "" } }],
    ["a disabled prompt", { ref: prompt("off"), argument: { name: "a", value: "" } }],
    ["no ref", { argument: { name: "a", value: "" } }],
    ["a ref of another type", { ref: { type: "ref/tool", name: "p" }, argument: { name: "a", value: "" } }],
    ["a ref without a name", { ref: { type: "ref/prompt" }, argument: { name: "a", value: "" } }],
    ["no argument", { ref: prompt("p") }],
    ["an argument without a value", { ref: prompt("p"), argument: { name: "a" } }],
    ["a value that is not a string", { ref: prompt("p"), argument: { name: "a", value: 3 } }],
    ["nothing", {}],
  ])("completion/complete with %s is -32602 and asks nobody [COMP-ERR, COMP-SEC]", async (_, params) => {
    const { server, log } = makeServer();
    let asked = 0;
    const complete = { a: () => [`${++asked}`] };
    server.completion(() => [`${++asked}`]);
    server.prompt("p", { arguments: z.object({ a: z.string() }), complete }, () => "");
    server.prompt("off", { arguments: z.object({ a: z.string() }), complete }, () => "").disable();
    const client = await open(cell, server);
    expect((await refusal(client.request("completion/complete", params))).code).toBe(-32602);
    expect(asked).toBe(0);
    expect(log).toEqual([]);
  });
});
