// The notifications that a server sends by itself, and the names of all that the protocol has.

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

/** What the protocol says with a notification, in either direction: none of these is an author's to send. */
export const protocolNotifications: ReadonlySet<string> = new Set([
  ...Object.values(listChanged),
  resourceUpdated,
  logMessage,
  ...[
    "cancelled",
    "progress",
    "initialized",
    "roots/list_changed",
    "elicitation/complete",
    "subscriptions/acknowledged",
    "tasks",
    "tasks/status",
  ].map((name) => `notifications/${name}`),
]);
