// Stands for the package `@anthropic-ai/sdk`: the part of its types that the documentation uses, and a model that follows a script.

// oxlint-disable-next-line typescript/no-namespace -- The package publishes its types in this shape.
declare namespace Anthropic {
  interface TextBlock {
    type: "text";
    text: string;
    citations: object[] | null;
  }
  interface ToolUseBlock {
    type: "tool_use";
    id: string;
    name: string;
    input: unknown;
  }
  interface ThinkingBlock {
    type: "thinking";
    thinking: string;
    signature: string;
  }
  type ContentBlock = TextBlock | ToolUseBlock | ThinkingBlock;
  interface TextBlockParam {
    type: "text";
    text: string;
  }
  interface ImageBlockParam {
    type: "image";
    source: {
      type: "base64";
      data: string;
      media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
    };
  }
  interface ToolResultBlockParam {
    type: "tool_result";
    tool_use_id: string;
    content?: string | (TextBlockParam | ImageBlockParam)[];
    is_error?: boolean;
  }
  interface MessageParam {
    role: "user" | "assistant";
    content: string | (TextBlockParam | ImageBlockParam | ToolResultBlockParam | ContentBlock)[];
  }
  interface Tool {
    name: string;
    description?: string;
    input_schema: {
      type: "object";
      properties?: unknown;
      required?: string[] | null;
      [key: string]: unknown;
    };
  }
  interface MessageCreateParams {
    model: string;
    max_tokens: number;
    system?: string;
    messages: MessageParam[];
    tools?: Tool[];
  }
  interface Message {
    role: "assistant";
    content: ContentBlock[];
    stop_reason: "end_turn" | "max_tokens" | "tool_use" | null;
  }
}

class Anthropic {
  readonly messages = { create: answer };
}

/** Calls the first tool for Oslo, and then repeats what the tool returned. */
async function answer({ messages, tools = [] }: Anthropic.MessageCreateParams): Promise<Anthropic.Message> {
  const last = messages.at(-1)?.content;
  const returned = Array.isArray(last) ? last.find((block) => block.type === "tool_result") : undefined;
  if (returned?.type === "tool_result") {
    const text = `The tool says: ${String(returned.content)}`;
    return { role: "assistant", content: [{ type: "text", text, citations: null }], stop_reason: "end_turn" };
  }
  const [tool] = tools;
  if (tool?.input_schema.type !== "object") throw new Error("There is no tool with a schema of an object");
  const call = { type: "tool_use" as const, id: "toolu_1", name: tool.name, input: { city: "Oslo" } };
  return { role: "assistant", content: [call], stop_reason: "tool_use" };
}

export default Anthropic;
