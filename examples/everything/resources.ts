// Resources: text, bytes, one to subscribe to, a template, and notes that exist as soon as a client reads them.
import type { McpServer } from "halyard";
import { onePixel } from "./samples.ts";

export function addResources(server: McpServer): void {
  server.resource(
    "test://static-text",
    { name: "static-text", title: "Static text", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  );

  server.resource(
    "test://static-binary",
    { name: "static-binary", title: "Static bytes", mimeType: "image/png" },
    () => Buffer.from(onePixel, "base64"),
  );

  server.resource(
    "test://watched-resource",
    { name: "watched-resource", title: "A resource to watch", mimeType: "text/plain" },
    () => "Watched resource content",
  );

  server.resourceTemplate(
    "test://template/{id}/data",
    { name: "template", title: "Data by id", mimeType: "application/json" },
    ({ params: { id } }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );

  server.resourceTemplate(
    "note:///{+path}",
    { name: "note", title: "Any note", mimeType: "text/plain" },
    ({ params: { path } }) => `Note ${path}`,
  );
}
