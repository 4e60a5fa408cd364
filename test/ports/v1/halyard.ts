// The inventory on Halyard: other imports, other registration lines, the same handlers.
import { McpServer } from "halyard";
import { z } from "zod";
import { addItemShape, findItemShape, Inventory, orderShape, stockShape } from "./inventory.ts";

export function createInventory(): McpServer {
  const server = new McpServer(
    { name: "inventory", version: "1.0.0" },
    { instructions: "Count before you order" },
  );
  const inventory = new Inventory(async (uri) => void (await server.resources.updated(uri)));

  server.tool(
    "add_item",
    { title: "Add", description: "Adds items to the stock", input: z.object(addItemShape) },
    (args) => inventory.addItem(args),
  );
  server.tool(
    "find_item",
    { description: "Finds an item", input: z.object(findItemShape), annotations: { readOnlyHint: true } },
    (args) => inventory.findItem(args),
  );
  server.tool("count_stock", { description: "Counts everything", output: z.object(stockShape) }, () =>
    inventory.countStock(),
  );
  server.prompt(
    "write_order",
    { title: "Order", description: "Writes an order", arguments: z.object(orderShape) },
    (args) => inventory.writeOrder(args),
  );
  server.resource("inventory://summary", { name: "summary", mimeType: "text/plain" }, ({ uri }) =>
    inventory.readSummary(new URL(uri)),
  );
  server.resourceTemplate(
    "inventory://items/{name}",
    {
      name: "item",
      title: "Item",
      mimeType: "application/json",
      complete: { name: (value) => inventory.namesLike(value) },
    },
    ({ uri, params }) => inventory.readItem(new URL(uri), params),
  );
  return server;
}
