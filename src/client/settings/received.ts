// The return types of a client: the types of the model with mutable arrays, so that code written for the official SDK accepts
// them.
import type * as asking from "../../protocol/asking.ts";
import type * as model from "../../protocol/model.ts";

/** The type without `readonly` at all levels. `unknown` stays as it is. */
type Received<T> = unknown extends T ? T : { -readonly [Name in keyof T]: Received<T[Name]> };

/** One piece of a tool result or of a prompt message. */
export type ContentBlock = Received<model.ContentBlock>;

/** One message to or from the client's model. */
export type SamplingMessage = Received<asking.SamplingMessage>;

/** The result of `tools/call`. */
export type CallToolResult = Received<model.CallToolResult>;

/** The result of `prompts/get`. */
export type GetPromptResult = Received<model.GetPromptResult>;

/** The result of `resources/read`. */
export type ReadResourceResult = Received<model.ReadResourceResult>;

/** The result of `completion/complete`. */
export type CompleteResult = Received<model.CompleteResult>;

/** A tool as `tools/list` returns it. */
export type Tool = Received<Omit<model.Tool, "inputSchema">> & { inputSchema: model.ToolSchema };

/** A prompt as `prompts/list` returns it. */
export type Prompt = Received<model.Prompt>;

/** A resource as `resources/list` returns it. */
export type Resource = Received<model.Resource>;

/** A resource template as `resources/templates/list` returns it. */
export type ResourceTemplate = Received<model.ResourceTemplate>;
