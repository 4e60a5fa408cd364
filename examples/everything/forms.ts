// The forms that users fill in, in the protocol's subset of JSON Schema.

export const userSchema = {
  type: "object",
  properties: {
    username: { type: "string", description: "User's response" },
    email: { type: "string", description: "User's email address" },
  },
  required: ["username", "email"],
};

/** One field of each kind, with a default. */
export const defaultsSchema = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
};

const options = ["option1", "option2", "option3"];

/** One field of each kind of choice. */
export const enumsSchema = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: {
      type: "array",
      items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") },
    },
  },
};

function titled(...titles: string[]): { const: string; title: string }[] {
  return titles.map((title, index) => ({ const: `value${index + 1}`, title }));
}
