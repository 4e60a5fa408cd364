// What every server of the interop tests offers, as far as its SDK can: the words that the steps expect.

/** A picture of one pixel. */
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

export const welcome = "note:///welcome";

/** The resources, for SDKs that leave it to their users to cut a list into pages. */
export function pageOf(cursor) {
  if (cursor === undefined)
    return { resources: [{ uri: welcome, name: "welcome", mimeType: "text/plain" }], nextCursor: "second" };
  return { resources: [{ uri: "note:///second", name: "second" }] };
}

export const styles = ["formal", "friendly", "terse"];

export const stylesLike = (typed) => styles.filter((style) => style.startsWith(typed));

export const textOf = (text) => ({ content: [{ type: "text", text }] });

export const form = {
  type: "object",
  properties: { name: { type: "string" }, mood: { type: "string", default: "well" } },
  required: ["name"],
};

export const sampling = {
  messages: [{ role: "user", content: { type: "text", text: "What rhymes with blue?" } }],
  maxTokens: 10,
};

/** Counts the calls of the tool `wait`, for the tool `waits`. */
export class Waits {
  #started = 0;
  #cancelled = 0;

  /** Resolves when the call is cancelled. */
  async wait(signal) {
    this.#started++;
    await new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", resolve, { once: true });
    });
    this.#cancelled++;
    return textOf("Too late");
  }

  report() {
    return textOf(`${this.#started} started, ${this.#cancelled} cancelled`);
  }
}
