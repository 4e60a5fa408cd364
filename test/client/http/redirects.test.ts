// Redirects: followed only where method, body, credentials and origin stay what they are.
import { HttpFailure } from "halyard/client";
import { describe, expect, test } from "vitest";
import { failing, HttpScript, newestLegacy, newestModern, start } from "../../support/http-script.ts";

describe.each([newestModern, newestLegacy])("a redirect on %s", (revision) => {
  test.each([307, 308])(
    "with %i to the same origin is followed, with the same body and headers",
    async (status) => {
      const { server, client } = await start({ revision, auth: "token" });
      server.on("work", ({ path, refuse, result }) =>
        path === "/mcp" ? refuse(status, "", { location: "/v2/mcp" }) : result({ path }),
      );
      expect(await client.request("work", { a: 1 })).toMatchObject({ path: "/v2/mcp" });
      const [first, second] = server.of("work");
      expect(second?.body).toBe(first?.body);
      expect(second?.headers).toMatchObject({ authorization: "Bearer token", accept: first?.headers.accept });
    },
  );

  test("to another origin is not followed: the error says where to, and nothing goes there", async () => {
    const other = await HttpScript.open();
    const { server, client } = await start({ revision, auth: "token" });
    server.on("work", ({ refuse }) => refuse(307, "", { location: `${other.url}?secret=1` }));
    const error = await failing(client.request("work"));
    expect(error).toBeInstanceOf(HttpFailure);
    expect(error).toMatchObject({ status: 307, message: expect.stringContaining(other.url) });
    expect(error.message).not.toContain("secret");
    expect(other.asked).toEqual([]);
  });

  test.each([301, 302, 303])("with %i is not followed, since it would lose the body", async (status) => {
    const { server, client } = await start({ revision });
    server.on("work", ({ refuse }) => refuse(status, "", { location: "/v2/mcp" }));
    const error = await failing(client.request("work"));
    expect(error).toMatchObject({ status, message: expect.stringContaining(`${server.origin}/v2/mcp`) });
    expect(server.of("work")).toHaveLength(1);
  });

  test.each([undefined, "http://[", "mailto:a@example.com"])("to %s is not followed", async (location) => {
    const { server, client } = await start({ revision });
    server.on("work", ({ refuse }) => refuse(307, "", location === undefined ? {} : { location }));
    expect(await failing(client.request("work"))).toBeInstanceOf(HttpFailure);
  });

  test("that leads to itself ends after five", async () => {
    const { server, client } = await start({ revision });
    server.on("work", ({ refuse }) => refuse(308, "", { location: "/mcp" }));
    const error = await failing(client.request("work"));
    expect(error).toMatchObject({ status: 308, message: expect.stringContaining("5 redirects") });
    expect(server.of("work")).toHaveLength(6);
  });
});
