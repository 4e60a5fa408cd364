// Tools that need scopes, for runs of the fixture that require tokens.
import type { McpServer } from "halyard";
import * as z from "zod";

export const scopesSupported: readonly string[] = ["notes:write"];

export function addNotes(server: McpServer, isProtected: boolean): void {
  server.tool(
    "write_note",
    {
      description: "Keeps a note, for whoever has the scope notes:write.",
      input: z.object({ text: z.string().optional() }),
      ...(isProtected && { scopes: ["notes:write"] }),
    },
    ({ text = "nothing" }, ctx) => `${ctx.principal?.subject ?? "Somebody"} noted: ${text}`,
  );
}
