// Tools and a prompt that ask in rounds, with the keys that the suite expects: by awaiting, and by returning inputRequired.
import { inputRequired, type McpServer, type SamplingMessage } from "halyard";
import * as z from "zod";

const named = z.object({ name: z.string() });
const capital: readonly SamplingMessage[] = [
  { role: "user", content: { type: "text", text: "What is the capital of France?" } },
];

export function addRoundTools(server: McpServer): void {
  server.tool(
    "test_input_required_result_elicitation",
    { description: "Asks the user for a name, and greets." },
    async (_, ctx) => {
      const { name } = await ctx.elicit("What is your name?", named, { key: "user_name" });
      return `Hello, ${name}!`;
    },
  );

  server.tool(
    "test_input_required_result_sampling",
    { description: "Asks the client's model for a capital." },
    async (_, ctx) => (await ctx.sample(capital, { key: "capital_question", maxTokens: 100 })).text,
  );

  server.tool(
    "test_input_required_result_list_roots",
    { description: "Asks the client for its roots." },
    async (_, ctx) => JSON.stringify(await ctx.roots({ key: "client_roots" })),
  );

  server.tool(
    "test_input_required_result_multiple_inputs",
    { description: "Asks the user, the model and the client at once." },
    async (_, ctx) => {
      const [user, greeting, roots] = await Promise.all([
        ctx.elicit("What is your name?", named, { key: "user_name" }),
        ctx.sample("Write a greeting", { key: "greeting", maxTokens: 50 }),
        ctx.roots({ key: "client_roots" }),
      ]);
      return `${greeting.text} ${user.name}, you have ${roots.length} roots`;
    },
  );

  server.tool(
    "test_input_required_result_multi_round",
    { description: "Asks for a name, and then for a color." },
    async (_, ctx) => {
      const { name } = await ctx.elicit("Step 1: what is your name?", named, { key: "step1" });
      const color = z.object({ color: z.string() });
      const answer = await ctx.elicit(`Step 2: ${name}, which color do you like?`, color, { key: "step2" });
      return `${name} likes ${answer.color}`;
    },
  );

  server.tool(
    "test_input_required_result_capabilities",
    { description: "Asks only what the client has declared that it can answer." },
    async (_, ctx) => {
      if (ctx.clientCapabilities.sampling) return (await ctx.sample(capital, { maxTokens: 100 })).text;
      if (ctx.clientCapabilities.elicitation) return (await ctx.elicit("Your name?", named)).name;
      return "The client can be asked nothing";
    },
  );

  addExplicitTools(server);

  server.prompt(
    "test_input_required_result_prompt",
    { description: "Asks for a context before it is rendered." },
    async (_, ctx) => {
      const schema = z.object({ context: z.string() });
      const { context } = await ctx.elicit("What is it about?", schema, { key: "user_context" });
      return `Please help me with: ${context}`;
    },
  );
}

/** Tools that return their questions and keep their own state. */
function addExplicitTools(server: McpServer): void {
  const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  const params = { mode: "form", message: "Go on?", requestedSchema };
  for (const name of ["request_state", "tampered_state"]) {
    server.tool(
      `test_input_required_result_${name}`,
      { description: "Asks for a confirmation, and finds its own state again." },
      (_, ctx) => {
        const state = ctx.requestState<{ readonly step: number }>();
        if (ctx.inputResponses?.["confirm"] !== undefined && state?.step === 1) return "state-ok";
        return inputRequired({
          inputRequests: { confirm: { method: "elicitation/create", params } },
          requestState: { step: 1 },
        });
      },
    );
  }
}
