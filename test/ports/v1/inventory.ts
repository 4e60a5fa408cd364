// The handlers of a server that was written for version 1 of the official SDK; both servers beside use them as they are.
import type { CallToolResult, GetPromptResult, ReadResourceResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

export const addItemShape = {
  name: z.string().describe("What to add"),
  quantity: z.number().int().min(1).describe("How many"),
};
export const findItemShape = { name: z.string() };
export const stockShape = { items: z.number(), pieces: z.number() };
export const orderShape = { name: z.string(), tone: z.string().optional() };

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

export class Inventory {
  readonly #items = new Map([["bolt", 40]]);
  readonly #changed: (uri: string) => Promise<void>;

  constructor(changed: (uri: string) => Promise<void>) {
    this.#changed = changed;
  }

  async addItem({ name, quantity }: { name: string; quantity: number }): Promise<CallToolResult> {
    this.#items.set(name, (this.#items.get(name) ?? 0) + quantity);
    await this.#changed(`inventory://items/${name}`);
    return { content: [{ type: "text", text: `Added ${quantity} × ${name}` }] };
  }

  async findItem({ name }: { name: string }): Promise<CallToolResult> {
    const quantity = this.#items.get(name);
    if (quantity === undefined) {
      return { content: [{ type: "text", text: `There is no ${name}` }], isError: true };
    }
    return {
      content: [
        { type: "text", text: `${quantity} × ${name}` },
        { type: "image", data: dot, mimeType: "image/png" },
        { type: "resource_link", uri: `inventory://items/${name}`, name },
      ],
      _meta: { "example.com/shelf": 7 },
    };
  }

  async countStock(): Promise<CallToolResult> {
    const pieces = [...this.#items.values()].reduce((sum, quantity) => sum + quantity, 0);
    const structuredContent = { items: this.#items.size, pieces };
    return { content: [{ type: "text", text: `${pieces} pieces` }], structuredContent };
  }

  writeOrder({ name, tone }: { name: string; tone?: string | undefined }): GetPromptResult {
    return {
      description: `An order for ${name}`,
      messages: [
        { role: "user", content: { type: "text", text: `Order more ${name}, in a ${tone ?? "plain"} tone` } },
        { role: "assistant", content: { type: "text", text: "Dear supplier," } },
      ],
    };
  }

  readSummary(uri: URL): ReadResourceResult {
    return {
      contents: [{ uri: uri.href, mimeType: "text/plain", text: [...this.#items.keys()].join(", ") }],
    };
  }

  readItem(uri: URL, { name }: { name: string }): ReadResourceResult {
    const quantity = this.#items.get(name) ?? 0;
    return {
      contents: [
        { uri: uri.href, mimeType: "application/json", text: JSON.stringify({ name, quantity }) },
        { uri: uri.href, mimeType: "image/png", blob: dot },
      ],
    };
  }

  namesLike(value: string): string[] {
    return [...this.#items.keys()].filter((name) => name.startsWith(value));
  }
}
