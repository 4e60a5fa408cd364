// Tools that test input schemas: arguments in headers, and keywords of JSON Schema 2020-12.
import type { McpServer } from "halyard";

export function addSchemaTools(server: McpServer): void {
  server.tool(
    "test_x_mcp_header",
    {
      description: "Returns the region, which HTTP clients send in a header too.",
      input: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          level: { type: "integer" },
        },
      },
    },
    (args) => {
      const { region = "anywhere", level = 0 } = args as { region?: string; level?: number };
      return `Region ${region}, level ${level}`;
    },
  );

  server.tool(
    "json_schema_2020_12_tool",
    {
      description: "Tool with JSON Schema 2020-12 features",
      input: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: {
          address: {
            $anchor: "addressDef",
            type: "object",
            properties: { street: { type: "string" }, city: { type: "string" } },
          },
        },
        properties: {
          name: { type: "string" },
          address: { $ref: "#/$defs/address" },
          contactMethod: { type: "string", enum: ["phone", "email"] },
          phone: { type: "string" },
          email: { type: "string" },
        },
        allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
        if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: { required: ["phone"] },
        else: { required: ["email"] },
        additionalProperties: false,
      },
    },
    (args) => `Received ${JSON.stringify(args)}`,
  );
}
