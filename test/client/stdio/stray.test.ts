// A command that writes something else than messages to its standard output, and never responds.
import { type ClientEvent, connect } from "halyard/client";
import { afterEach, expect, test, vi } from "vitest";
import { holdClocks } from "../../support/clock.ts";
import { scriptCommand } from "./start.ts";

afterEach(() => void vi.useRealTimers());

/** Connects, waits until the client has seen `count` lines, and lets the time of `connect` run out. */
async function timeOut(
  script: string,
  count: number,
  { env = {}, reasons = [] }: { readonly env?: Record<string, string>; readonly reasons?: string[] } = {},
): Promise<Error> {
  holdClocks("setTimeout", "clearTimeout");
  let lines = 0;
  let seen = (): void => {};
  const allSeen = new Promise<void>((resolve) => (seen = resolve));
  const observe = (event: ClientEvent): void => {
    if (event.type === "ignored") reasons.push(event.reason);
    if ((event.type === "ignored" || event.type === "stderr") && ++lines === count) seen();
  };
  const target = scriptCommand(`${script}; process.stdin.resume().on("end", () => process.exit())`, { env });
  const connecting = connect(target, { observe }).then(
    () => new Error("It connected"),
    (error: Error) => error,
  );
  await allSeen;
  vi.advanceTimersByTime(30_000);
  // Ending the process takes real time.
  vi.useRealTimers();
  return connecting;
}

test("a server that only prints is quoted when the time of connect is over", async () => {
  const error = await timeOut('console.log("Listening on http://localhost:3000/mcp")', 1);
  expect(error).toMatchObject({ code: "TIMEOUT", limit: "connectTimeoutMs" });
  const [first, ...rest] = error.message.split("\n");
  expect(first).toMatch(
    /^Connecting to .*: no response after 30000 ms: raise connectTimeoutMs if it needs longer; it sent no message: is it an MCP server on stdio\?$/,
  );
  expect(rest).toEqual([
    "Its first lines on standard output, which may carry only messages:",
    "Listening on http://localhost:3000/mcp",
  ]);
});

test("a server that waits for something else is quoted with what it says on standard error", async () => {
  const error = await timeOut('console.error("Waiting for DATABASE_URL")', 1);
  expect(error.message.split("\n").slice(1)).toEqual([
    "Its last lines on standard error:",
    "Waiting for DATABASE_URL",
  ]);
});

test("a line of JSON that is no message is quoted, and shown in the event", async () => {
  const token = "sk-live-51Hq8vKx2eZbN0uYtRrPpWwA4";
  const reasons: string[] = [];
  const log = JSON.stringify({ level: "info", port: 3000, token });
  const script = [
    'console.log("{ port: 3000 }")',
    `console.log('${log.replace(token, "' + process.env.API_TOKEN + '")}')`,
    `console.log('[{"level":"info","padding":"${"x".repeat(300)}"}]')`,
  ].join("; ");
  const error = await timeOut(script, 3, { env: { API_TOKEN: token }, reasons });
  const shown = log.replace(token, "[redacted]");
  const long = `[{"level":"info","padding":"${"x".repeat(172)}…`;
  expect(error.message.split("\n").slice(1)).toEqual([
    "Its first lines on standard output, which may carry only messages:",
    "{ port: 3000 }",
    shown,
    long,
  ]);
  expect(error.message).toContain("it sent no message: is it an MCP server on stdio?");
  expect(reasons).toEqual([
    "The text is too short for a JSON-RPC message: { port: 3000 }",
    `A message must have jsonrpc "2.0": ${shown}`,
    `A message must have jsonrpc "2.0": ${long}`,
  ]);
});

test("a line that does not end is quoted", async () => {
  const script = 'console.error("starting"); process.stdout.write("Enter password: ")';
  const error = await timeOut(`${script}; setTimeout(() => console.error("waiting"), 200)`, 2);
  expect(error.message.split("\n").slice(1)).toEqual([
    "Its first lines on standard output, which may carry only messages:",
    "Enter password: …",
    "Its last lines on standard error:",
    "starting",
    "waiting",
  ]);
});

test("the start of a line that does not end is quoted without secrets", async () => {
  const token = "sk-live-51Hq8vKx2eZbN0uYtRrPpWwA4";
  const script = 'process.stdout.write(process.env.API_TOKEN.slice(0, 12)); console.error("waiting")';
  const error = await timeOut(script, 1, { env: { API_TOKEN: token } });
  expect(error.message).not.toContain(token.slice(0, 8));
});

test("the quote is bounded, printable and without secrets", async () => {
  const token = "sk-live-51Hq8vKx2eZbN0uYtRrPpWwA4";
  const script =
    'console.log(`token ${process.env.API_TOKEN}\\u001b[31m`); for (let n = 0; n < 50; n++) console.log("x".repeat(1000))';
  const error = await timeOut(script, 51, { env: { API_TOKEN: token } });
  const [, , first, ...rest] = error.message.split("\n");
  expect(first).toMatch(/^token \S+$/);
  expect(error.message).not.toContain(token);
  expect(error.message).not.toContain("\u001b");
  expect(rest).toEqual(Array(4).fill(`${"x".repeat(200)}…`));
});
