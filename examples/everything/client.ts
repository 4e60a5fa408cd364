// The client of the conformance suite: it does what one scenario asks of a client, and ends with 0 if nothing failed.
// The suite starts it as `npx tsx examples/everything/client.ts URL`, with the scenario in the environment.
import { type ClientAuth, connect, type ConnectOptions, type McpClient } from "halyard/client";
import {
  clientCredentials,
  enterpriseManaged,
  oauth,
  OAuthError,
  type OAuthProblem,
  workloadIdentity,
} from "halyard/client/oauth";

/** What a scenario has the client do once it is connected. */
type Act = (client: McpClient, context: Context) => Promise<unknown>;

/** What some scenarios pass on. */
interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly issuer?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_issuer?: string;
  readonly valid_jwt?: string;
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
    // This server does not refuse calls without the headers, so the client must know them before the first call.
    await client.listTools();
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

/** What every scenario of authorization does once it is let in. */
const callTestTool: Act = async (client) => {
  await client.listTools();
  await client.callTool("test-tool");
};

/** A person who agrees to everything: the mocks ask nothing, and send the person back at once. */
const open = async (address: string): Promise<void> => {
  await (await fetch(address)).body?.cancel();
};

/** How the client obtains its tokens, where a scenario wants more than a person who signs in. */
const auths: Readonly<Record<string, (context: Context) => ClientAuth>> = {
  "auth/basic-cimd": () =>
    oauth({ open, clientMetadataUrl: "https://conformance-test.local/client-metadata.json" }),
  "auth/pre-registration": ({ client_id = "", client_secret = "", issuer = "announced" }) =>
    oauth({ open, clientId: client_id, clientSecret: client_secret, issuer }),
  "auth/client-credentials-jwt": ({ client_id = "", private_key_pem: pem = "", signing_algorithm = "" }) =>
    clientCredentials({ clientId: client_id, privateKey: { pem, alg: signing_algorithm } }),
  "auth/client-credentials-basic": ({ client_id = "", client_secret = "" }) =>
    clientCredentials({ clientId: client_id, clientSecret: client_secret, issuer: "announced" }),
  "auth/enterprise-managed-authorization": ({ client_id = "", client_secret = "", ...idp }) =>
    enterpriseManaged({
      clientId: client_id,
      clientSecret: client_secret,
      issuer: "announced",
      identityProvider: {
        issuer: idp.idp_issuer ?? "",
        clientId: idp.idp_client_id ?? "",
        idToken: idp.idp_id_token ?? "",
      },
    }),
  "auth/dpop": () => oauth({ open, dpop: true }),
  "auth/dpop-nonce": () => oauth({ open, dpop: true }),
  "auth/wif-jwt-bearer": ({ client_id = "", valid_jwt = "" }) =>
    workloadIdentity({ clientId: client_id, assertion: valid_jwt, issuer: "announced" }),
};

/** The scenarios in which a client must refuse, and what it must say is wrong. */
const refusals: Readonly<Record<string, OAuthProblem>> = {
  "auth/resource-mismatch": "resource",
  "auth/metadata-issuer-mismatch": "issuer",
  "auth/iss-supported-missing": "response",
  "auth/iss-wrong-issuer": "response",
  "auth/iss-unexpected": "response",
  "auth/iss-normalized": "response",
  "auth/scope-retry-limit": "refused",
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
const isAuthorized = scenario.startsWith("auth/");
const act = isAuthorized ? callTestTool : acts[scenario];
if (url === undefined || act === undefined)
  throw new Error(`Unknown scenario ${scenario}: choose from ${Object.keys(acts).join(", ")}, auth/…`);
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
// The suite holds every message to the schema of that revision, so the client must not look for another one first.
const revision = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] ?? "auto";
const auth = isAuthorized ? { auth: auths[scenario]?.(context) ?? oauth({ open }) } : {};

async function play(address: string, does: Act): Promise<void> {
  const client = await connect(address, { ...options, ...auth, revision });
  await does(client, context).finally(() => client.close());
}

const refusal = refusals[scenario];
if (refusal === undefined) await play(url, act);
else {
  const error: unknown = await play(url, act).catch((reason: unknown) => reason);
  const problem = error instanceof OAuthError ? error.problem : undefined;
  if (problem !== refusal) throw new Error(`Expected the problem "${refusal}"`, { cause: error });
  console.log(String(error));
}
