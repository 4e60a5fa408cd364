// The notebook on Halyard: other imports, other registration lines, the same handlers.
import { McpServer } from "halyard";
import { Notebook, reviewArguments, searchInput, searchOutput, writeInput } from "./notebook.ts";

export function createNotebook(): McpServer {
  const server = new McpServer(
    { name: "notebook", version: "2.0.0" },
    { instructions: "Search before you write" },
  );
  const notebook = new Notebook(async (uri) => void (await server.resources.updated(uri)));

  server.tool("write", { title: "Write", description: "Writes a note", input: writeInput }, notebook.write);
  server.tool(
    "search",
    { description: "Searches the notes", input: searchInput, output: searchOutput },
    notebook.search,
  );
  server.tool("embed", { description: "Embeds a note" }, notebook.embed);
  server.prompt("review", { description: "Reviews a note", arguments: reviewArguments }, notebook.review);
  server.resource("note://index", { name: "index", description: "All names" }, ({ uri }) =>
    notebook.readIndex(new URL(uri)),
  );
  server.resourceTemplate(
    "note://{name}",
    { name: "note", mimeType: "text/plain", complete: { name: (value) => notebook.namesLike(value) } },
    ({ uri, params }) => notebook.readNote(new URL(uri), params),
  );
  return server;
}
