// What the official clients answer when a server asks them.

export const answers = {
  elicit: async () => ({ action: "accept" as const, content: { colour: "blue" } }),
  sample: async () => ({
    model: "a-model",
    role: "assistant" as const,
    content: { type: "text" as const, text: "shoe" },
  }),
  roots: async () => ({ roots: [{ uri: "file:///home", name: "Home" }] }),
};
