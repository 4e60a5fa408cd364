// Resource templates: how they are published, matched and given their variables.
import { ConfigurationError } from "halyard";
import { describe, expect, test } from "vitest";
import { list, makeServer, open, refusal } from "../../support/catalogue.ts";
import { describeMatrix } from "../../support/matrix.ts";

describeMatrix("resource templates", {}, (cell) => {
  const notFound = cell.era === "modern" ? -32602 : -32002;

  test("resources/templates/list publishes the template with what this revision knows of it [RES-TEMPLATES-RFC6570, RES-TEMPLATES-LIST]", async () => {
    const { server } = makeServer();
    const icons = [{ src: "https://example.com/i.svg", sizes: ["any"] }];
    server.resourceTemplate(
      "repo:///{owner}/{+path}{?rev}",
      {
        name: "file",
        title: "File",
        description: "A file",
        mimeType: "text/plain",
        icons,
        annotations: { priority: 0 },
        _meta: { k: 1 },
      },
      () => "",
    );
    const client = await open(cell, server);
    expect(await list(client, "resources/templates/list")).toEqual([
      {
        uriTemplate: "repo:///{owner}/{+path}{?rev}",
        name: "file",
        description: "A file",
        mimeType: "text/plain",
        annotations: { priority: 0 },
        ...(cell.revision >= "2025-06-18" && { title: "File", _meta: { k: 1 } }),
        ...(cell.revision >= "2025-11-25" && { icons }),
      },
    ]);
    expect(await list(client, "resources/list")).toEqual([]);
  });

  test("a reader gets the URI and the decoded variables [RES-TEMPLATES-RFC6570]", async () => {
    const { server } = makeServer();
    server.resourceTemplate("repo:///{owner}/{name}{?rev}", {}, ({ uri, params }) =>
      JSON.stringify({ uri, ...params }),
    );
    server.resourceTemplate("tree:///{owner}/{+path}", {}, ({ uri, params }) =>
      JSON.stringify({ uri, ...params }),
    );
    const client = await open(cell, server);
    const read = async (uri: string): Promise<unknown> => {
      const { contents } = await client.request("resources/read", { uri });
      const [only] = contents as { uri: string; text: string }[];
      expect(only?.uri).toBe(uri);
      return JSON.parse(only?.text ?? "");
    };
    expect(await read("tree:///ada/src/a.ts")).toEqual({
      uri: "tree:///ada/src/a.ts",
      owner: "ada",
      path: "src/a.ts",
    });
    expect(await read("repo:///a%20b/x?rev=2")).toMatchObject({ owner: "a b", name: "x", rev: "2" });
    expect(await read("repo:///a/x")).toEqual({ uri: "repo:///a/x", owner: "a", name: "x" });
    expect((await refusal(client.request("resources/read", { uri: "repo:///ada" }))).code).toBe(notFound);
  });

  test("an exact resource comes before a template, and templates in order of registration", async () => {
    const { server } = makeServer();
    server.resourceTemplate("note:///{id}", {}, () => "first template");
    server.resourceTemplate("note:///{+all}", {}, () => "second template");
    server.resource("note:///index", {}, () => "exact");
    const client = await open(cell, server);
    const read = async (uri: string): Promise<unknown> =>
      ((await client.request("resources/read", { uri }))["contents"] as { text: string }[])[0]?.text;
    expect(await read("note:///index")).toBe("exact");
    expect(await read("note:///1")).toBe("first template");
    expect(await read("note:///1/2")).toBe("second template");
  });

  test("a disabled template is neither listed nor readable, and the next one takes over", async () => {
    const { server } = makeServer();
    const handle = server.resourceTemplate("note:///{id}", { name: "one" }, () => "one");
    const client = await open(cell, server);
    handle.disable();
    expect(await list(client, "resources/templates/list")).toEqual([]);
    expect((await refusal(client.request("resources/read", { uri: "note:///1" }))).code).toBe(notFound);
    const complete = client.request("completion/complete", {
      ref: { type: "ref/resource", uri: "note:///{id}" },
      argument: { name: "id", value: "" },
    });
    expect([-32601, -32602]).toContain((await refusal(complete)).code);
    server.resourceTemplate("note:///{+rest}", { name: "two" }, () => "two");
    expect(await client.request("resources/read", { uri: "note:///1" })).toMatchObject({
      contents: [{ text: "two" }],
    });
    handle.enable();
    expect(await list(client, "resources/templates/list")).toHaveLength(2);
    expect(await client.request("resources/read", { uri: "note:///1" })).toMatchObject({
      contents: [{ text: "one" }],
    });
  });

  test("the type of a template is given to what it reads, unless the reader says otherwise", async () => {
    const { server } = makeServer();
    server.resourceTemplate("note:///{id}", { mimeType: "text/plain" }, ({ uri, params }) =>
      params.id === "x" ? { uri, mimeType: "text/html", text: "<p>" } : "plain",
    );
    const client = await open(cell, server);
    expect(await client.request("resources/read", { uri: "note:///a" })).toMatchObject({
      contents: [{ mimeType: "text/plain" }],
    });
    expect(await client.request("resources/read", { uri: "note:///x" })).toMatchObject({
      contents: [{ mimeType: "text/html" }],
    });
  });
});

describe("template registration", () => {
  test.each(["note:///{id", "note:///id}", "note:///{}", "note:///{a b}", "note:///{=a}", "note:///{a:0}"])(
    "%s is refused [RES-TEMPLATES-RFC6570]",
    (template) => {
      expect(() => makeServer().server.resourceTemplate(template, {}, () => "")).toThrow(
        expect.objectContaining({
          name: ConfigurationError.name,
          code: "INVALID_NAME",
          subject: `resource template "${template}"`,
          field: "uriTemplate",
        }),
      );
    },
  );

  test("a completer for what is not a variable of the template is refused", () => {
    const { server } = makeServer();
    expect(() => server.resourceTemplate("note:///{id}", { complete: { ids: () => [] } }, () => "")).toThrow(
      expect.objectContaining({ code: "INVALID_DEFINITION", field: "complete" }),
    );
  });
});
