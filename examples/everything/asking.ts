// Tools that ask the client: for a sample from its model, or for something that only its user knows.
import type { Elicited, McpServer } from "halyard";
import * as z from "zod";
import { defaultsSchema, enumsSchema, userSchema } from "./forms.ts";

/** `runs` has how often `ask_twice` did what it does once, by the key of the call. */
export function addAskingTools(server: McpServer, runs: Map<string, number>): void {
  server.tool(
    "test_sampling",
    {
      description: "Asks the client's model for an answer to a prompt.",
      input: z.object({ prompt: z.string() }),
    },
    async ({ prompt }, ctx) => {
      const { text } = await ctx.sample(prompt, { maxTokens: 100 });
      return `LLM response: ${text || "No response"}`;
    },
  );

  server.tool(
    "test_elicitation",
    {
      description: "Asks the user for a name and an address.",
      input: z.object({ message: z.string() }),
    },
    async ({ message }, ctx) => `User response: ${described(await ctx.tryElicit(message, userSchema))}`,
  );

  const forms = {
    test_elicitation_sep1034_defaults: defaultsSchema,
    test_elicitation_sep1330_enums: enumsSchema,
  };
  for (const [name, form] of Object.entries(forms)) {
    server.tool(name, { description: "Asks the user to fill in a form." }, async (_, ctx) => {
      const message = "Please look at the form and change what you like";
      return `Elicitation completed: ${described(await ctx.tryElicit(message, form))}`;
    });
  }

  server.tool(
    "ask_twice",
    {
      description: "Asks for a name, counts once under the key, asks for a color, and says what came of it.",
      input: z.object({ key: z.string().default("default") }),
      output: z.object({ name: z.string(), color: z.string(), runs: z.number() }),
    },
    async ({ key }, ctx) => {
      const { name } = await ctx.elicit("What is your name?", z.object({ name: z.string() }));
      await ctx.once("count", () => void runs.set(key, (runs.get(key) ?? 0) + 1));
      const { color } = await ctx.elicit("Which color do you like?", z.object({ color: z.string() }));
      return { name, color, runs: runs.get(key) ?? 0 };
    },
  );

  server.tool(
    "test_missing_capability",
    { description: "Is only for clients that declare sampling.", requires: { sampling: {} } },
    () => "The client has declared sampling",
  );

  server.tool(
    "test_streaming_elicitation",
    { description: "Is only for clients that declare elicitation.", requires: { elicitation: {} } },
    () => "The client has declared elicitation",
  );
}

function described({ action, content }: Elicited<unknown>): string {
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}
