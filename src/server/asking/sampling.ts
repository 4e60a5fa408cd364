// Sampling: a question to the client's model.
import { refuseOn } from "../../base/refused-names.ts";
import {
  count,
  type Known,
  listOf,
  needed,
  numberFrom,
  oneOf,
  options as optionsOf,
  plainObject,
  text as textKind,
  texts,
} from "../../base/kinds.ts";
import {
  blocksOf,
  isBlock,
  messagesProblem,
  type Sampled,
  type SampleOptions,
  type SamplingContent,
  type SamplingMessage,
} from "../../protocol/asking.ts";
import { askFailed } from "../../base/errors.ts";
import { encodeBlock, encodeShape } from "../../protocol/codec.ts";
import { type ClientCapabilities, type ContentBlock, isRole } from "../../protocol/model.ts";
import type { Revision } from "../../protocol/revision.ts";
import type { JsonObject } from "../../base/wire/message.ts";
import { type AnswerReading, type ClientQuestion, knownAskOptions } from "./question.ts";

export const knownSampleOptions: Known<SampleOptions> = {
  ...knownAskOptions,
  maxTokens: count,
  systemPrompt: textKind,
  temperature: numberFrom(0, Number.MAX_VALUE, "a number, 0 or more"),
  stopSequences: texts,
  modelPreferences: plainObject,
  metadata: plainObject,
  tools: listOf(plainObject, "a list of tools"),
  toolChoice: optionsOf({ mode: needed(oneOf("auto", "required", "none")) }),
};

export const samplingMethod = "sampling/createMessage";

const defaultMaxTokens = 1024;

const contentName = "This content";
const contentRemedy = "text beside it";

/** A model may need minutes, and the user may have to approve the request first. */
const timeoutMs = 5 * 60_000;

export function samplingQuestion(
  asked: string | readonly SamplingMessage[],
  options: SampleOptions,
  revision: Revision,
): ClientQuestion<Sampled> {
  const messages: readonly SamplingMessage[] =
    typeof asked === "string" ? [{ role: "user", content: { type: "text", text: asked } }] : asked;
  return {
    method: samplingMethod,
    params: samplingParams({ ...options, messages }, revision),
    requires: samplingNeeds({ ...options, messages }),
    timeoutMs,
    read: readSampled,
  };
}

/** Encodes the parameters for `revision`. Throws if the messages are invalid or have content that it does not support. */
export function samplingParams(params: JsonObject, revision: Revision): JsonObject {
  const problem = messagesProblem(params["messages"]);
  if (problem) throw new TypeError(`${samplingMethod}: ${problem}`);
  const { maxTokens = defaultMaxTokens } = params;
  const messages = params["messages"] as readonly SamplingMessage[];
  const written = revision.samplingBlocks === "many" ? messages : oneBlockEach(messages, revision);
  return encodeShape({ ...params, messages: written, maxTokens }, "sampling", revision);
}

/** The capabilities that the client must declare. Tool blocks need a client that supports tools. */
export function samplingNeeds({ tools, toolChoice, messages }: JsonObject): ClientCapabilities {
  const isAboutTools = (message: SamplingMessage): boolean =>
    blocksOf(message.content).some(({ type }) => type === "tool_use" || type === "tool_result");
  const needsTools =
    tools !== undefined ||
    toolChoice !== undefined ||
    (Array.isArray(messages) && (messages as SamplingMessage[]).some(isAboutTools));
  return { sampling: needsTools ? { tools: {} } : {} };
}

/** Splits a message with several blocks into messages of the same role. */
function oneBlockEach(messages: readonly SamplingMessage[], revision: Revision): readonly JsonObject[] {
  return messages.flatMap(({ role, content }) =>
    blocksOf(content).map((block) => ({ role, content: blockFor(block, revision) })),
  );
}

/** Throws for an unsupported block: with a substitute, the model would answer another question. */
function blockFor(block: SamplingContent, revision: Revision): unknown {
  if (block.type === "tool_use" || block.type === "tool_result") return block;
  if (revision.content.has(block.type)) return encodeBlock(block as ContentBlock, revision);
  const problem = `protocol revision ${revision.date} of the client has no ${block.type} content`;
  throw askFailed(samplingMethod, problem);
}

function readSampled(result: JsonObject): AnswerReading<Sampled> {
  const { role, content, model, stopReason } = result;
  const blocks = [content].flat();
  if (!isRole(role)) return { ok: false, problem: "role must be user or assistant" };
  if (!blocks.every(isBlock)) return { ok: false, problem: "content must be content blocks" };
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
  const reason = typeof stopReason === "string" ? { stopReason } : {};
  return {
    ok: true,
    value: {
      role,
      content: refuseOn([...blocks], contentName, { text: contentRemedy }),
      text,
      model: typeof model === "string" ? model : "",
      ...reason,
    },
  };
}
