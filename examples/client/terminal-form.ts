// A form of a server in the terminal: asks for each field, with its choices and its default.
import { createInterface } from "node:readline";
import { McpServer } from "halyard";
import { connect, type ElicitAnswer, type FormField, type FormQuestion } from "halyard/client";
import * as z from "zod";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Shows the form, and returns what the user typed. An empty line takes the default, the end of the input cancels. */
async function fillIn({ message, requestedSchema }: FormQuestion): Promise<ElicitAnswer> {
  const { properties, required = [] } = requestedSchema;
  const content: Record<string, string | number | boolean | string[]> = {};
  console.log(message);
  for (const [name, field] of Object.entries(properties)) {
    const mark = required.includes(name) && field.default === undefined ? " *" : "";
    process.stdout.write(`${field.title ?? name}${mark}${hint(field)}: `);
    const { value: line, done } = await lines.next();
    if (done === true) return { action: "cancel" };
    if (line !== "") content[name] = read(field, line);
  }
  return { action: "accept", content };
}

/** What the user can type. */
function hint(field: FormField): string {
  const initial = field.default === undefined ? "" : ` [${String(field.default)}]`;
  switch (field.type) {
    case "string": {
      const choices = field.oneOf?.map((choice) => `${choice.const} = ${choice.title ?? choice.const}`);
      const names = choices ?? field.enum;
      return (names ? ` (${names.join(", ")})` : field.format ? ` (${field.format})` : "") + initial;
    }
    case "number":
    case "integer":
      return ` (${field.minimum ?? "…"} to ${field.maximum ?? "…"})${initial}`;
    case "boolean":
      return ` (yes, no)${initial}`;
    case "array": {
      const names = field.items.anyOf?.map((choice) => choice.const) ?? field.items.enum ?? [];
      return ` (some of ${names.join(", ")})${initial}`;
    }
  }
}

/** What the user typed, as a value of the field. The client checks it, and the server once more. */
function read(field: FormField, line: string): string | number | boolean | string[] {
  switch (field.type) {
    case "string":
      return line;
    case "number":
    case "integer":
      return Number(line);
    case "boolean":
      return line === "yes";
    case "array":
      return line.split(",").map((part) => part.trim());
  }
}

const server = new McpServer({ name: "hotel", version: "1.0.0" });
const booking = z.object({
  name: z.string().meta({ title: "Your name" }),
  nights: z.int().min(1).max(14).default(2),
  room: z.enum(["single", "double"]).default("single"),
  extras: z.array(z.enum(["breakfast", "parking"])).default([]),
  late: z.boolean().default(false).meta({ title: "Late arrival" }),
});
server.tool("book", {}, async (_, ctx) => JSON.stringify(await ctx.elicit("Book a room", booking)));

const client = await connect(server, { onElicit: { form: fillIn } });
const { content } = await client.callTool("book");
for (const block of content) if (block.type === "text") console.log(block.text);
await client.close();
