// docs/guides/migrating.md: a ported server shows the model what the old one showed.
import { fileURLToPath } from "node:url";
import { connect } from "halyard/client";
import { expect, test } from "vitest";
import { readBlocks } from "../support/documents.ts";
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
