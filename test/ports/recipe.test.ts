// docs/guides/migrating.md: a ported server shows the model what the old one showed.
import { fileURLToPath } from "node:url";
import { connect } from "halyard/client";
import { expect, test } from "vitest";
import { readBlocks, readDocument } from "../support/documents.ts";
import { removeTypes } from "../support/javascript.ts";

const cwd = fileURLToPath(new URL("../..", import.meta.url));

test("the recipe of docs/guides/migrating.md shows the message of an exception to the model, and its results", async () => {
  const [recipe = ""] = readBlocks("docs/guides/migrating.md", "ts");
  const args = ["--input-type=module", "--eval", removeTypes(recipe)];
  const client = await connect({ command: process.execPath, args, cwd });
  try {
    const failed = await client.callTool("forecast", { city: "Atlantis" });
    expect(failed).toMatchObject({
      content: [{ type: "text", text: "There is no station in Atlantis" }],
      isError: true,
    });
    const { content } = await client.callTool("forecast", { city: "Oslo" });
    expect(content).toEqual([{ type: "text", text: "21 degrees in Oslo" }]);
  } finally {
    await client.close();
  }
});

test.each([
  "migrating-official-server",
  "migrating-official-server-v2",
  "migrating-fastmcp",
  "migrating-frameworks",
])("docs/guides/%s.md sets errors in the servers that it ports", (page) => {
  const ported = readBlocks(`docs/guides/${page}.md`, "ts").filter((block) =>
    block.includes('errors: "message"'),
  );
  expect(ported.length).toBeGreaterThan(0);
});

/** What users of the official packages look for in its guides. */
const sought: readonly (readonly [page: string, what: string])[] = [
  ["migrating-official-server", "McpError(-32002"],
  ["migrating-official-server", "-32042"],
  ["migrating-official-server", "-32000, -32001"],
  ["migrating-official-server", 'extra.sendRequest({ method: "elicitation/create"'],
  ["migrating-official-server", 'extra.sendRequest({ method: "sampling/createMessage"'],
  ["migrating-official-server", "registerToolTask"],
  ["migrating-official-server", "taskStore"],
  ["migrating-low-level", "ListResourcesRequestSchema"],
  ["migrating-low-level", "ReadResourceRequestSchema"],
  ["migrating-low-level", "ListPromptsRequestSchema"],
  ["migrating-low-level", "GetPromptRequestSchema"],
  ["migrating-low-level", "pageSize"],
  ["migrating-transports", "verifyAccessToken"],
  ["migrating-transports", "AuthInfo.expiresAt"],
  ["migrating-transports", "a verifier without an authorization server"],
  ["migrating-transports", "`requiredScopes` of `requireBearerAuth`"],
  ["migrating-transports", "createMcpHonoApp"],
  ["migrating-transports", "responseMode"],
  ["migrating-transports", "`oauthMetadata` of `mcpAuthMetadataRouter`"],
  ["migrating-transports", "app.use(cors("],
  ["migrating-official-client", "the types `Tool`, `CallToolResult`"],
  ["migrating-official-client", "authProvider: { token"],
  ["migrating-official-client", "mode: { pin:"],
  ["migrating-official-client", "transport.stderr"],
  ["migrating-official-client", "terminateSession"],
  ["migrating-official-client", "getDisplayName"],
  ["migrating-official-client", "request({ method, params }, ResultSchema)"],
  ["migrating-official-client", "LoggingMessageNotificationSchema"],
  ["migrating-official-client", "notifications/elicitation/complete"],
  ["migrating-official-client", "honoredFilter"],
  ["migrating-official-client", "onChanged: (error, tools)"],
  ["migrating-official-client", "ElicitRequestFormParams"],
];

test.each(sought)("docs/guides/%s.md has a row for %s", (page, what) => {
  const rows = readDocument(`docs/guides/${page}.md`)
    .split("\n")
    .filter((line) => line.startsWith("|"));
  expect(rows.filter((row) => row.includes(what))).not.toEqual([]);
});
