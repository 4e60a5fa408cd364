// What a user sees of a command that cannot start, or that ends before it speaks MCP.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { CannotStart, type ClientEvent, connect, type CommandTarget } from "halyard/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptCommand } from "./start.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "halyard-stdio-"));
  writeFileSync(join(folder, "plain.txt"), "not a program");
  writeFileSync(join(folder, "orphan.sh"), "#!/no/such/interpreter\n");
  chmodSync(join(folder, "orphan.sh"), 0o755);
});

afterAll(() => rmSync(folder, { recursive: true }));

async function failure(target: CommandTarget): Promise<CannotStart> {
  const error = await connect(target).then(
    (client) => client.close(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CannotStart);
  return error as CannotStart;
}

describe("connect says why the command cannot start", () => {
  test("a command that no folder of PATH has: the folders", async () => {
    const error = await failure({
      command: "no-such-program",
      cwd: folder,
      env: { PATH: "/usr/bin:/opt/none" },
    });
    expect(error).toMatchObject({ code: "CANNOT_START", command: "no-such-program", cwd: folder });
    expect(error.message).toBe(
      `Cannot start no-such-program in ${folder}: no folder of PATH has it (/usr/bin:/opt/none): install it, or pass its whole path`,
    );
  });

  test("a path at which nothing is: the path, resolved against cwd", async () => {
    const error = await failure({ command: "./bin/server", cwd: folder });
    expect(error.message).toContain(`${join(folder, "bin/server")} does not exist`);
  });

  test("a file that cannot be executed", async () => {
    const error = await failure({ command: "./plain.txt", cwd: folder });
    expect(error.message).toContain(`${join(folder, "plain.txt")} is not an executable file`);
  });

  test("a script whose interpreter does not exist", async () => {
    const error = await failure({ command: "./orphan.sh", cwd: folder });
    expect(error.message).toContain("orphan.sh exists, but the program that its first line names does not");
  });

  test("a folder that does not exist, though the system blames the command", async () => {
    const cwd = join(folder, "missing");
    const error = await failure({ command: process.execPath, cwd });
    expect(error.message).toBe(
      `Cannot start ${process.execPath} in ${cwd}: the folder does not exist: correct cwd`,
    );
  });

  test("arguments that the system does not take", async () => {
    const error = await failure({ command: process.execPath, args: ["a".repeat(4_000_000)] });
    expect(error.cause).toMatchObject({ code: "E2BIG" });
  });

  test("a command that exits at once: its code, and what it wrote", async () => {
    const script = 'console.log("Usage: server FILE"); console.error("FILE is missing"); process.exit(64)';
    const error = await failure(scriptCommand(script, { cwd: folder }));
    expect(error).toMatchObject({ exitCode: 64, stderr: "FILE is missing", cwd: folder });
    expect(error.message).toBe(
      [
        `${process.execPath} (in ${folder}) exited with code 64 before it sent a message`,
        "Its first lines on standard output, which may carry only messages:",
        "Usage: server FILE",
        "Its last lines on standard error:",
        "FILE is missing",
      ].join("\n"),
    );
  });

  test.each([
    ["an object of JavaScript", 'console.log("{ port: 3000 }")', "{ port: 3000 }"],
    [
      "a log line in JSON",
      'console.log(JSON.stringify({ level: "info", text: "started at port 3000" }))',
      '{"level":"info","text":"started at port 3000"}',
    ],
    ["a line that does not end", 'process.stdout.write("Enter password: ")', "Enter password: "],
  ])("a command that writes %s and exits: what it wrote", async (_, script, line) => {
    const error = await failure(scriptCommand(`${script}; process.exitCode = 1`, { cwd: folder }));
    expect(error.message.split("\n")).toEqual([
      `${process.execPath} (in ${folder}) exited with code 1 before it sent a message`,
      "Its first lines on standard output, which may carry only messages:",
      line,
    ]);
  });

  test("a command that a signal ends: the signal", async () => {
    const error = await failure(scriptCommand('process.kill(process.pid, "SIGKILL")'));
    expect(error.exitCode).toBeUndefined();
    expect(error.message).toContain("was ended by SIGKILL before it sent a message");
  });
});

describe("connect refuses a target that cannot work", () => {
  test.each([
    [{ command: "" }, "command must be the program to start"],
    [{ command: "node", graceMs: 0 }, "graceMs must be a whole number of milliseconds from 1"],
    [
      { command: "node", graceMs: Number.NaN },
      "graceMs must be a whole number of milliseconds from 1 to 2147483647, not NaN",
    ],
    [{ command: "node", arguments: [] } as CommandTarget, "arguments is not an option"],
  ])("%o", async (target, problem) => {
    await expect(connect(target)).rejects.toThrow(problem);
  });
});

describe("errors of a command", () => {
  const key = "sk-live-51Hq8vKx2eZbN0uYtRrPpWwA4";
  const password = "of-the-database-42";

  test("show no secret that the command was given, however it repeats it", async () => {
    const encoded = Buffer.from(`key ${key}`).toString("base64");
    const script = `
      console.log("using ${key}");
      console.log("${"y".repeat(190)}${key}");
      console.error("invalid key ${key}, that is ${encoded}");
      console.error("wrong password ${password}");
      process.exit(1)`;
    const events: ClientEvent[] = [];
    const args = [
      "-e",
      script.replaceAll(key, '" + process.env.SERVICE_API_KEY + "'),
      "--",
      "--token",
      "hunter-of-secrets",
      "--pass=x",
    ];
    const target = {
      command: process.execPath,
      args,
      env: { SERVICE_API_KEY: key, DATABASE_URL: `pg://ann:${password}@db.example.com/` },
    };
    const error = await connect(target, { observe: (event) => events.push(event) }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(CannotStart);
    const shown = inspect([error, events], { depth: 9, maxStringLength: null });
    expect(shown).toContain("invalid key [redacted]");
    expect(shown).toContain("--token [redacted] --pass=[redacted]");
    for (const secret of [key, key.slice(0, 8), encoded.slice(8, 30), "hunter-of", password])
      expect(shown).not.toContain(secret);
  });

  test.each<[string, Pick<CommandTarget, "args" | "env">]>([
    ["the address of a database", { args: [`pg://ann:${key}@db.example.com/main`] }],
    ["an option with such an address", { args: [`--db=pg://ann:${key}@db.example.com/main`] }],
    ["the query of an address", { args: [`https://example.com/?apiKey=${key}`] }],
    ["a header", { args: ["--header", `Authorization: Bearer ${key}`] }],
    ["a header without a blank", { args: ["--header", `X-Api-Key:${key}`] }],
    ["headers as JSON in a variable", { env: { HEADERS: `{"Authorization": "Bearer ${key}"}` } }],
    ["a connection string in a variable", { env: { DB: `Server=db;User=ann;Password=${key};` } }],
    ["a user in an address in a variable", { env: { DSN: `https://${key}@example.com/1` } }],
    ["the query of an address in a variable", { env: { ENDPOINT: `https://example.com/?token=${key}` } }],
    ["a variable for a password", { env: { DB_PASS: key } }],
    ["a variable with a number", { env: { API_KEY_2: key } }],
  ])("do not show a secret in %s", async (_, { args = [], env = {} }) => {
    const script = `console.error("got", ...process.argv.slice(1), ...${JSON.stringify(Object.keys(env))}.map((name) => process.env[name])); process.exit(1)`;
    const target = { command: process.execPath, args: ["-e", script, "--", ...args], env };
    const missing = { ...target, command: "no-such-command" };
    for (const each of [target, missing]) {
      const events: ClientEvent[] = [];
      const error = await connect(each, { observe: (event) => events.push(event) }).catch(
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(CannotStart);
      const shown = inspect([error, events], { depth: 9, maxStringLength: null, showHidden: true });
      expect(shown).not.toContain(key.slice(0, 12));
      if (each === target) expect((error as CannotStart).stderr).toMatch(/^got .*\[redacted\]/);
    }
  });

  test("do not show what no process can receive", async () => {
    for (const given of [{ args: [`${key}\0`] }, { env: { SOME: `${key}\0` } }]) {
      const error = await connect({ command: process.execPath, ...given }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "INVALID_OPTION", field: Object.keys(given)[0] });
      expect(inspect(error)).not.toContain(key.slice(0, 12));
    }
  });

  test("obey no order that the command writes for a terminal", async () => {
    const orders = ["\x1b[2J\x1b[1;31m", "\x1b]0;title\x07", "\x1bc", "\x9b5n", "\x08\x07\r", "\u202e"];
    const said = `before${orders.join("")}after\tthis`;
    const script = `
      process.stdout.write(${JSON.stringify(said)} + "\\n");
      process.stderr.write(${JSON.stringify(said)} + "\\n");
      process.exit(1)`;
    const error = await failure(scriptCommand(script));
    expect(error.message).toContain("beforeafter\tthis");
    for (const text of [error.message, error.stack, error.stderr]) expect(text).not.toMatch(/[^\t\n\P{C}]/u);
  });
});
