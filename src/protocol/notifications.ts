// The notifications that a server sends by itself.

/** The lists that may change, and how clients are told. */
export const listChanged = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const;

/** A log message; each session says from which level on it wants them. */
export const logMessage = "notifications/message";

/** A resource has changed; its URI is the key. */
export const resourceUpdated = "notifications/resources/updated";
