// A notebook: a small server that uses every part of the protocol once.
import { setTimeout as sleep } from "node:timers/promises";
import { McpServer, ResourceNotFoundError, type ServerOptions, ToolError } from "halyard";
import * as z from "zod";

const styles = ["one sentence", "bullet points", "haiku"];

const noteId = z.string().regex(/^[a-z0-9-]+$/, "Use lower-case letters, digits and hyphens");

/** The texts of the notes, by id, as a notebook has them first. */
export function firstNotes(): Map<string, string> {
  return new Map([
    ["welcome", "Welcome! Notes live at note:///{id}; write_note makes new ones."],
    ["groceries", "Bread, olives, lemons"],
    ["groundwork", "Dig before it rains"],
  ]);
}

/** Creates the notebook, with its own notes unless you pass some. */
export function createDemoServer(options: ServerOptions = {}, notes = firstNotes()): McpServer {
  const startingWith = (typed: string): string[] => [...notes.keys()].filter((id) => id.startsWith(typed));

  const server = new McpServer(
    { name: "notebook", title: "Notebook", version: "1.0.0" },
    { instructions: "Read note:///welcome first.", ...options },
  );

  /** Stores a note and notifies its subscribers. */
  async function save(id: string, text: string): Promise<string> {
    const uri = `note:///${id}`;
    notes.set(id, text);
    await server.resources.updated(uri);
    return uri;
  }

  server.tool(
    "write_note",
    {
      title: "Write a note",
      description: "Creates a note, or replaces the one with the same id.",
      input: z.object({ id: noteId, text: z.string().min(1) }),
      annotations: { idempotentHint: true },
    },
    async ({ id, text }, ctx) => {
      const uri = await save(id, text);
      ctx.log("info", `Wrote ${uri}`);
      return { type: "resource_link", uri, name: id, mimeType: "text/plain" };
    },
  );

  server.tool(
    "search_notes",
    {
      title: "Search the notes",
      description: "Finds the notes that contain a text, in any case.",
      input: z.object({ query: z.string() }),
      output: z.object({ matches: z.array(z.object({ uri: z.string(), text: z.string() })) }),
      annotations: { readOnlyHint: true },
    },
    ({ query }) => {
      const wanted = query.toLowerCase();
      const found = [...notes].filter(([, text]) => text.toLowerCase().includes(wanted));
      return { matches: found.map(([id, text]) => ({ uri: `note:///${id}`, text })) };
    },
  );

  server.tool(
    "count",
    {
      title: "Count slowly",
      description: "Counts to a number, reports each step, and keeps how far it came in note:///count.",
      input: z.object({
        to: z.int().min(1).max(1000),
        pauseMs: z.int().min(0).max(1000).default(100),
      }),
    },
    async ({ to, pauseMs }, ctx) => {
      let reached = 0;
      try {
        while (reached < to) {
          reached++;
          ctx.progress(reached, to, `Counted ${reached}`);
          await sleep(pauseMs, undefined, { signal: ctx.signal });
        }
      } finally {
        const outcome = ctx.signal.aborted ? "was cancelled" : "finished";
        await save("count", `Counting to ${to} ${outcome} at ${reached}`);
      }
      return `Counted to ${to}`;
    },
  );

  const deleteNote = server.tool(
    "delete_note",
    {
      title: "Delete a note",
      input: z.object({ id: noteId }),
      annotations: { destructiveHint: true },
    },
    ({ id }) => {
      if (!notes.delete(id)) throw new ToolError(`There is no note "${id}": search_notes knows them all`);
      return `Deleted ${id}`;
    },
  );
  deleteNote.disable();

  server.tool(
    "toggle_feature",
    {
      title: "Switch deletion on or off",
      description: "Offers delete_note, or takes it away again. Clients that listen are told by themselves.",
      output: z.object({ feature: z.literal("delete_note"), enabled: z.boolean() }),
    },
    () => {
      if (deleteNote.enabled) deleteNote.disable();
      else deleteNote.enable();
      return { feature: "delete_note", enabled: deleteNote.enabled };
    },
  );

  server.resource(
    "note:///welcome",
    { name: "welcome", title: "Start here", mimeType: "text/plain" },
    () => notes.get("welcome") ?? "",
  );

  server.resourceTemplate(
    "note:///{id}",
    { name: "note", title: "A note by its id", mimeType: "text/plain", complete: { id: startingWith } },
    ({ uri, params }) => {
      const text = notes.get(params.id);
      if (text === undefined) throw new ResourceNotFoundError(uri);
      return text;
    },
  );

  server.prompt(
    "summarise",
    {
      title: "Summarise a note",
      description: "Asks for a summary of one note, in a style.",
      arguments: z.object({ id: noteId, style: z.string().default("one sentence") }),
      complete: {
        id: startingWith,
        style: (typed) => styles.filter((style) => style.startsWith(typed)),
      },
    },
    ({ id, style }) => `Summarise this note as ${style}:\n\n${notes.get(id) ?? "(there is no such note)"}`,
  );

  return server;
}
