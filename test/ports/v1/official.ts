// The inventory on version 1 of the official SDK.
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { addItemShape, findItemShape, Inventory, orderShape, stockShape } from "./inventory.ts";

export function createOfficialInventory(): McpServer {
  const server = new McpServer(
    { name: "inventory", version: "1.0.0" },
    { capabilities: { resources: { subscribe: true } }, instructions: "Count before you order" },
  );
  const subscribed = new Set<string>();
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  const inventory = new Inventory(async (uri) => {
    if (subscribed.has(uri)) await server.server.sendResourceUpdated({ uri });
  });

  server.registerTool(
    "add_item",
    { title: "Add", description: "Adds items to the stock", inputSchema: addItemShape },
    (args) => inventory.addItem(args),
  );
  server.registerTool(
    "find_item",
    { description: "Finds an item", inputSchema: findItemShape, annotations: { readOnlyHint: true } },
    (args) => inventory.findItem(args),
  );
  server.registerTool("count_stock", { description: "Counts everything", outputSchema: stockShape }, () =>
    inventory.countStock(),
  );
  server.registerPrompt(
    "write_order",
    { title: "Order", description: "Writes an order", argsSchema: orderShape },
    (args) => inventory.writeOrder(args),
  );
  server.registerResource("summary", "inventory://summary", { mimeType: "text/plain" }, (uri) =>
    inventory.readSummary(uri),
  );
  server.registerResource(
    "item",
    new ResourceTemplate("inventory://items/{name}", {
      list: undefined,
      complete: { name: (value) => inventory.namesLike(value) },
    }),
    { title: "Item", mimeType: "application/json" },
    (uri, { name }) => inventory.readItem(uri, { name: String(name) }),
  );
  return server;
}
