// Stands for the package `openai`: the part of its types that the documentation uses, and a model that follows a script.

// oxlint-disable-next-line typescript/no-namespace -- The package publishes its types in this shape.
declare namespace OpenAI {
  // oxlint-disable-next-line typescript/no-namespace -- Likewise.
  namespace Responses {
    interface FunctionTool {
      type: "function";
      name: string;
      description?: string | null;
      parameters: { [key: string]: unknown } | null;
      strict: boolean | null;
    }
    interface ResponseFunctionToolCall {
      type: "function_call";
      call_id: string;
      name: string;
      arguments: string;
    }
    interface ResponseOutputMessage {
      type: "message";
      role: "assistant";
      content: { type: "output_text"; text: string }[];
    }
    interface ResponseReasoningItem {
      type: "reasoning";
      id: string;
      summary: { type: "summary_text"; text: string }[];
    }
    /** An item that the model returns and that does not fit the input as it is. */
    interface AdditionalTools {
      type: "additional_tools";
      id: string;
      role: "unknown" | "user" | "assistant" | "developer";
    }
    type ReturnedItem = ResponseFunctionToolCall | ResponseOutputMessage | ResponseReasoningItem;
    type ResponseOutputItem = ReturnedItem | AdditionalTools;
    type ResponseInputItem =
      | { role: "user" | "system" | "developer"; content: string }
      | { type: "function_call_output"; call_id: string; output: string }
      | { type: "additional_tools"; role: "developer" }
      | ReturnedItem;
    interface Response {
      output: ResponseOutputItem[];
      output_text: string;
    }
    interface ResponseCreateParams {
      model: string;
      input: string | ResponseInputItem[];
      tools?: FunctionTool[];
    }
  }
}

class OpenAI {
  readonly responses = { create: answer };
}

/** Calls the first tool for Oslo, and then repeats what the tool returned. */
async function answer({
  input,
  tools = [],
}: OpenAI.Responses.ResponseCreateParams): Promise<OpenAI.Responses.Response> {
  const last = typeof input === "string" ? undefined : input.at(-1);
  if (last !== undefined && "output" in last)
    return { output: [], output_text: `The tool says: ${last.output}` };
  const [tool] = tools;
  if (tool === undefined) throw new Error("There is no tool");
  const call = {
    type: "function_call" as const,
    call_id: "call_1",
    name: tool.name,
    arguments: '{"city":"Oslo"}',
  };
  return { output: [call], output_text: "" };
}

export default OpenAI;
