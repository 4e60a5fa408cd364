// What a stdio server inherits: few variables, none that may be a secret, and the folder.
import { tmpdir } from "node:os";
import { realpathSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { serverCommand, start } from "./start.ts";

afterEach(() => void vi.unstubAllEnvs());

async function environmentOf(env?: Record<string, string>): Promise<Record<string, string>> {
  const { client } = await start(serverCommand([], env && { env }));
  return (await client.callTool("environment")).structuredContent as Record<string, string>;
}

test("a server inherits PATH and HOME, and no variable that may be a secret", async () => {
  vi.stubEnv("HOME", "/home/somebody");
  vi.stubEnv("SECRET_TOKEN", "hidden");
  vi.stubEnv("NODE_OPTIONS", "--no-warnings");
  const environment = await environmentOf();
  expect(environment).toMatchObject({ PATH: process.env["PATH"], HOME: "/home/somebody" });
  const allowed = new Set([
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
  ]);
  expect(Object.keys(environment).filter((name) => !allowed.has(name))).toEqual([]);
});

test("a server does not inherit a value that is a function of bash", async () => {
  vi.stubEnv("TERM", "() { echo attacked; }");
  expect(await environmentOf()).not.toHaveProperty("TERM");
});

test("env adds variables and replaces inherited ones, so that credentials reach the server [AUTH-STDIO]", async () => {
  const environment = await environmentOf({ API_KEY: "key", HOME: "/elsewhere" });
  expect(environment).toMatchObject({ API_KEY: "key", HOME: "/elsewhere", PATH: process.env["PATH"] });
});

test("cwd is the folder of the server", async () => {
  const cwd = realpathSync(tmpdir());
  const { client } = await start(serverCommand([], { cwd }));
  expect((await client.callTool("folder")).content).toEqual([{ type: "text", text: cwd }]);
});
