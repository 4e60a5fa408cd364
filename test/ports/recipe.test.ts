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

test.each(["migrating-official-server", "migrating-fastmcp", "migrating-frameworks"])(
  "docs/guides/%s.md sets errors in the servers that it ports",
  (page) => {
    const ported = readBlocks(`docs/guides/${page}.md`, "ts").filter((block) =>
      block.includes('errors: "message"'),
    );
    expect(ported.length).toBeGreaterThan(0);
  },
);

/** What users of the official packages look for in its guides. */
const sought: readonly (readonly [page: string, what: string])[] = [
  ["server", "McpError(-32002"],
  ["server", "-32042"],
  ["server", "-32000, -32001"],
  ["server", 'extra.sendRequest({ method: "elicitation/create"'],
  ["server", 'extra.sendRequest({ method: "sampling/createMessage"'],
  ["server", "registerToolTask"],
  ["server", "taskStore"],
  ["server", "ListResourcesRequestSchema"],
  ["server", "ReadResourceRequestSchema"],
  ["server", "ListPromptsRequestSchema"],
  ["server", "GetPromptRequestSchema"],
  ["server", "pageSize"],
  ["server", "verifyAccessToken"],
  ["server", "AuthInfo.expiresAt"],
  ["server", "a verifier without an authorization server"],
  ["server", "`requiredScopes` of `requireBearerAuth`"],
  ["server", "createMcpHonoApp"],
  ["server", "responseMode"],
  ["server", "`oauthMetadata` of `mcpAuthMetadataRouter`"],
  ["server", "app.use(cors("],
  ["client", "the types `Tool`, `CallToolResult`"],
  ["client", "authProvider: { token"],
  ["client", "mode: { pin:"],
  ["client", "transport.stderr"],
  ["client", "terminateSession"],
  ["client", "getDisplayName"],
  ["client", "request({ method, params }, ResultSchema)"],
  ["client", "LoggingMessageNotificationSchema"],
  ["client", "notifications/elicitation/complete"],
  ["client", "honoredFilter"],
  ["client", "onChanged: (error, tools)"],
  ["client", "ElicitRequestFormParams"],
];

test.each(sought)("docs/guides/migrating-official-%s.md has a row for %s", (page, what) => {
  const [first = ""] = readDocument(`docs/guides/migrating-official-${page}.md`).split("\n## Version 2");
  const rows = first.split("\n").filter((line) => line.startsWith("|"));
  expect(rows.filter((row) => row.includes(what))).not.toEqual([]);
});
