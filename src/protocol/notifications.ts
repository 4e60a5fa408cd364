// The notifications that a server sends on its own, and the names of all notifications of the protocol.

/** The notification for each list that may change. */
export const listChanged = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const;

/** A log message. Each session sets its lowest level. */
export const logMessage = "notifications/message";

/** A resource has changed; its URI is the key. */
export const resourceUpdated = "notifications/resources/updated";

/** All notifications of the protocol, in either direction. Authors cannot send these. */
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
