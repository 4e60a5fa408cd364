// Sends questions to the server: one POST for each, with the token as a header.
import type { Answers, Ask, Questions } from "../../answers.ts";
import { token } from "./token.ts";

/** The server refused to answer, or could not be reached; `status` is 0 then. */
export class AskError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Resolves with the answer; rejects with an {@link AskError}. A refused token is forgotten, so that the page asks for another one. */
export async function ask<Name extends Ask>(
  name: Name,
  question: Questions[Name],
  signal?: AbortSignal,
): Promise<Answers[Name]> {
  const used = token.get();
  const response = await fetch(new URL("ask", import.meta.url), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${used}` },
    body: JSON.stringify({ ask: name, ...question }),
    ...(signal && { signal }),
  }).catch(() => {
    throw new AskError(0, "Could not reach the server");
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as Answers[Name];
  if (response.status === 401 && token.get() === used) token.set(undefined);
  throw new AskError(response.status, reasonIn(text) ?? `The server responded with ${response.status}`);
}

function reasonIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } };
    return typeof error === "string" ? error : error?.message;
  } catch {
    return undefined;
  }
}
