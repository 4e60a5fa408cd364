// The notebook on version 2 of the official SDK.
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { type Notebook, reviewArguments, searchInput, searchOutput, writeInput } from "./notebook.ts";

export function createOfficialNotebook(notebook: Notebook, subscribed: Set<string>): McpServer {
  const server = new McpServer(
    { name: "notebook", version: "2.0.0" },
    { capabilities: { resources: { subscribe: true } }, instructions: "Search before you write" },
  );
  server.server.setRequestHandler("resources/subscribe", ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });

  server.registerTool(
    "write",
    { title: "Write", description: "Writes a note", inputSchema: writeInput },
    notebook.write,
  );
  server.registerTool(
    "search",
    { description: "Searches the notes", inputSchema: searchInput, outputSchema: searchOutput },
    notebook.search,
  );
  server.registerTool("embed", { description: "Embeds a note" }, notebook.embed);
  server.registerPrompt(
    "review",
    { description: "Reviews a note", argsSchema: reviewArguments },
    notebook.review,
  );
  server.registerResource("index", "note://index", { description: "All names" }, notebook.readIndex);
  server.registerResource(
    "note",
    new ResourceTemplate("note://{name}", {
      list: undefined,
      complete: { name: (value) => notebook.namesLike(value) },
    }),
    { mimeType: "text/plain" },
    (uri, { name }) => notebook.readNote(uri, { name: String(name) }),
  );
  return server;
}
