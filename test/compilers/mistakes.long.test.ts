// What the compiler says about common mistakes: each message names the mistake.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, unpackPackage, type UserFolder } from "./compilers.ts";

const ours = fileURLToPath(new URL("../../node_modules/typescript", import.meta.url));
let user: UserFolder;

beforeAll(async () => {
  user = await unpackPackage();
}, 60_000);

afterAll(() => user.remove());

/** The lines that the compiler prints for one tool. */
async function messages(tool: string): Promise<string[]> {
  const source = `import { McpServer } from "halyard";
import * as z from "zod";
export const load = async () => z.string().parse("x");
const server = new McpServer({ name: "a", version: "1" });
${tool}`;
  await writeFile(join(user.folder, "mistake.ts"), source);
  const options = { module: "nodenext", types: ["node"], skipLibCheck: true };
  const lines = (await compile(ours, user, ["mistake.ts"], options)).trim().split("\n");
  return lines.map((line) => line.replace(/^.*error TS\d+: /, "").trim());
}

const block = '{ content: [{ type: "txt", text: "x" }] }';

test("a wrong type of block", async () => {
  const [first] = await messages(`server.tool("t", {}, () => (${block}));`);
  expect(first).toMatch(/^Type '"txt"' is not assignable to type .*Did you mean '"text"'\?$/);
}, 60_000);

test("a wrong type of block, of an async handler", async () => {
  const said = await messages(`server.tool("t", {}, async () => (${block}));`);
  expect(said[0]).toMatch(
    /^Type 'Promise<{ content: { type: "txt"; text: string; }\[\]; }>' is not assignable/,
  );
  expect(said.at(-1)).toBe(`Type '"txt"' is not assignable to type '"text"'.`);
}, 60_000);

test("a raw shape", async () => {
  const [first] = await messages('server.tool("t", { input: { city: z.string() } }, () => "x");');
  expect(first).toContain("This is a raw shape: wrap it in z.object({ … })");
}, 60_000);

test("a missing await", async () => {
  const [first] = await messages(
    'server.tool("t", {}, () => ({ content: [{ type: "text", text: load() }] }));',
  );
  expect(first).toBe("Type 'Promise<string>' is not assignable to type 'string'.");
}, 60_000);
