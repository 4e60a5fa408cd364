// The handlers of a server that was written for version 2 of the official SDK; both servers beside use them as they are.
import type { CallToolResult, GetPromptResult, ReadResourceResult } from "@modelcontextprotocol/server";
import * as z from "zod/v4";

export const writeInput = z.object({ name: z.string().describe("Its name"), text: z.string() });
export const searchInput = z.object({ query: z.string(), limit: z.number().int().max(50).optional() });
export const searchOutput = z.object({ hits: z.array(z.object({ name: z.string(), text: z.string() })) });
export const reviewArguments = z.object({ name: z.string().describe("The note to review") });

export class Notebook {
  readonly #notes = new Map([["groceries", "Milk, lemons"]]);
  readonly #changed: (uri: string) => Promise<void>;

  constructor(changed: (uri: string) => Promise<void>) {
    this.#changed = changed;
  }

  write = async ({ name, text }: z.infer<typeof writeInput>): Promise<CallToolResult> => {
    this.#notes.set(name, text);
    await this.#changed(`note://${name}`);
    return { content: [{ type: "text", text: `Wrote ${name}` }] };
  };

  search = async ({ query, limit }: z.infer<typeof searchInput>): Promise<CallToolResult> => {
    const found = [...this.#notes].filter(([, text]) => text.includes(query)).slice(0, limit ?? 10);
    if (found.length === 0) return { content: [{ type: "text", text: "No note has it" }], isError: true };
    const output = { hits: found.map(([name, text]) => ({ name, text })) };
    return { content: [{ type: "text", text: `${found.length} found` }], structuredContent: output };
  };

  embed = async (): Promise<CallToolResult> => {
    const text = this.#notes.get("groceries") ?? "";
    const resource = { uri: "note://groceries", mimeType: "text/plain", text };
    return { content: [{ type: "resource", resource, annotations: { audience: ["user"], priority: 1 } }] };
  };

  review = async ({ name }: z.infer<typeof reviewArguments>): Promise<GetPromptResult> => {
    const text = this.#notes.get(name) ?? "";
    return { messages: [{ role: "user", content: { type: "text", text: `Review this note: ${text}` } }] };
  };

  readIndex = async (uri: URL): Promise<ReadResourceResult> => {
    return { contents: [{ uri: uri.href, text: [...this.#notes.keys()].join("\n") }] };
  };

  readNote = async (uri: URL, { name }: { name: string }): Promise<ReadResourceResult> => {
    return { contents: [{ uri: uri.href, mimeType: "text/plain", text: this.#notes.get(name) ?? "" }] };
  };

  namesLike(value: string): string[] {
    return [...this.#notes.keys()].filter((name) => name.startsWith(value));
  }
}
