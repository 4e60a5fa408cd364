// What the official clients answer when a server asks them: told by the names of a form's fields, and by the question's words.
import type { JsonObject } from "halyard";

/** A question as it reached the client's own handler. */
export interface Asked {
  readonly method: string;
  readonly params?: JsonObject | undefined;
}

/** How a user fills in the fields, whatever form they are in. */
const filledIn: JsonObject = {
  name: "Ada",
  colour: "blue",
  color: "green",
  confirm: true,
  ok: true,
  context: "knots",
  username: "ada",
  email: "ada@example.com",
};

/** A user and a model who answer at once, and keep what they were asked. */
export function answering() {
  const asked: Asked[] = [];
  return {
    asked,
    elicit: async (request: Asked) => {
      asked.push(request);
      return elicited(request.params ?? {});
    },
    sample: async (request: Asked) => {
      asked.push(request);
      return sampled(request.params ?? {});
    },
    roots: async (request: Asked) => {
      asked.push(request);
      return { roots: [{ uri: "file:///home", name: "Home" }] };
    },
  };
}

function elicited({ mode, message, requestedSchema }: JsonObject) {
  const refusal = /^(decline|cancel)\b/i.exec(String(message))?.[1]?.toLowerCase();
  if (refusal !== undefined) return { action: refusal as "decline" | "cancel" };
  if (mode === "url") return { action: "accept" as const };
  const { properties } = requestedSchema as { properties: JsonObject };
  const known = Object.keys(properties).filter((name) => Object.hasOwn(filledIn, name));
  const content = Object.fromEntries(known.map((name) => [name, String(filledIn[name])]));
  const typed = known.filter((name) => typeof filledIn[name] === "boolean");
  return {
    action: "accept" as const,
    content: { ...content, ...Object.fromEntries(typed.map((name) => [name, true])) },
  };
}

/** A model that uses the first tool it is given, once, and then speaks. */
function sampled({ messages, tools }: JsonObject) {
  const [tool] = (tools ?? []) as { name: string }[];
  const hasResult = JSON.stringify(messages).includes('"tool_result"');
  const said = { model: "a-model", role: "assistant" as const };
  if (tool === undefined || hasResult) {
    return { ...said, content: { type: "text" as const, text: "shoe" }, stopReason: "endTurn" };
  }
  const content = { type: "tool_use" as const, id: "use-1", name: tool.name, input: { word: "blue" } };
  return { ...said, content, stopReason: "toolUse" };
}
