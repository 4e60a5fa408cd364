// Tools that ask the client: for a sample of its model, or for something that only its user knows.
import { type Context, HalyardError, type JsonObject, type McpServer, ToolError } from "halyard";
import * as z from "zod";
import { defaultsSchema, enumsSchema, userSchema } from "./forms.ts";

/** Asks; a client that cannot be asked, or does not answer, is told so in the result. */
async function ask(ctx: Context, method: string, params: object): Promise<JsonObject> {
  try {
    return await ctx.ask(method, params);
  } catch (error) {
    if (error instanceof HalyardError) throw new ToolError(error.message);
    throw error;
  }
}

export function addAskingTools(server: McpServer): void {
  server.tool(
    "test_sampling",
    {
      description: "Asks the client's model for an answer to a prompt.",
      input: z.object({ prompt: z.string() }),
      requires: { sampling: {} },
    },
    async ({ prompt }, ctx) => {
      const messages = [{ role: "user", content: { type: "text", text: prompt } }];
      const { content } = await ask(ctx, "sampling/createMessage", { messages, maxTokens: 100 });
      const { text = "No response" } = (content ?? {}) as { text?: string };
      return `LLM response: ${text}`;
    },
  );

  server.tool(
    "test_elicitation",
    {
      description: "Asks the user for a name and an address.",
      input: z.object({ message: z.string() }),
      requires: { elicitation: {} },
    },
    async ({ message }, ctx) => {
      const answer = await ask(ctx, "elicitation/create", { message, requestedSchema: userSchema });
      return `User response: ${described(answer)}`;
    },
  );

  const forms = {
    test_elicitation_sep1034_defaults: defaultsSchema,
    test_elicitation_sep1330_enums: enumsSchema,
  };
  for (const [name, requestedSchema] of Object.entries(forms)) {
    server.tool(
      name,
      { description: "Asks the user to fill in a form.", requires: { elicitation: {} } },
      async (_, ctx) => {
        const answer = await ask(ctx, "elicitation/create", {
          message: "Please look at the form and change what you like",
          requestedSchema,
        });
        return `Elicitation completed: ${described(answer)}`;
      },
    );
  }

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

function described({ action, content }: JsonObject): string {
  return `action=${String(action)}, content=${JSON.stringify(content ?? {})}`;
}
