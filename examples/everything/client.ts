// The client of the conformance suite: it does what one scenario asks of a client, and ends with 0 if nothing failed.
// The suite starts it as `npx tsx examples/everything/client.ts URL`, with the scenario in the environment.
import { connect, type ConnectOptions, type McpClient } from "halyard/client";

/** What a scenario has the client do once it is connected. */
type Act = (client: McpClient, context: Context) => Promise<unknown>;

/** What some scenarios pass on. */
interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

const listTools: Act = (client) => client.listTools();

const acts: Readonly<Record<string, Act>> = {
  initialize: listTools,
  tools_call: async (client) => {
    await client.listTools();
    await client.callTool("add_numbers", { a: 5, b: 3 });
  },
  "elicitation-sep1034-client-defaults": (client) => client.callTool("test_client_elicitation_defaults"),
  "sse-retry": (client) => client.callTool("test_reconnection"),
  "request-metadata": listTools,
  "sep-2322-client-request-state": async (client) => {
    await Promise.all([client.callTool("test_mrtr_echo_state"), client.callTool("test_mrtr_unrelated")]);
    await client.callTool("test_mrtr_no_state");
    await client.callTool("test_mrtr_no_result_type");
  },
  "http-standard-headers": async (client) => {
    const [tool] = await client.listTools();
    if (tool !== undefined) await client.callTool(tool.name);
    const [resource] = await client.listResources();
    if (resource !== undefined) await client.readResource(resource.uri);
    const [prompt] = await client.listPrompts();
    if (prompt !== undefined) await client.getPrompt(prompt.name);
  },
  "http-custom-headers": async (client, { toolCalls = [] }) => {
    for (const call of toolCalls) await client.callTool(call.name, call.arguments);
  },
  "http-invalid-tool-headers": async (client) => {
    for (const { name } of await client.listTools()) await client.callTool(name, { region: "us-west1" });
  },
  "json-schema-ref-no-deref": listTools,
  "json-schema-2020-12-preservation": async (client) => {
    const tools = await client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === "json_schema_2020_12_tool") ?? {};
    await client.callTool("json_schema_echo", { schema: inputSchema });
  },
};

/** How scenarios answer the server's questions: they accept, and confirm where they are asked to. */
const options: ConnectOptions = {
  info: { name: "halyard-everything-client", version: "1.0.0" },
  onElicit: (question) => ({
    action: "accept",
    content:
      question.mode === "form" && "confirmed" in fieldsOf(question.requestedSchema)
        ? { confirmed: true }
        : {},
  }),
};

function fieldsOf(schema: { readonly [key: string]: unknown }): object {
  return (schema["properties"] ?? {}) as object;
}

const [url] = process.argv.slice(-1);
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "initialize";
const act = acts[scenario];
if (url === undefined || act === undefined)
  throw new Error(`Unknown scenario ${scenario}: choose from ${Object.keys(acts).join(", ")}`);
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
// The suite holds every message to the schema of that revision, so the client must not look for another one first.
const revision = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "auto";
await using client = await connect(url, { ...options, revision });
await act(client, context);
