// The reserved keys of `_meta`, and the grammar of all of its keys.

export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

/** The extensions that Halyard has itself. */
export const extensionIds = { tasks: "io.modelcontextprotocol/tasks" } as const;

/** Whether `_meta` makes its request a modern one. */
export function hasModernKey(meta: { readonly [key: string]: unknown }): boolean {
  return meta[metaKeys.protocolVersion] !== undefined || meta[metaKeys.clientCapabilities] !== undefined;
}

const label = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/i;
const name = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)?$/i;

/** Why `key` cannot be a `_meta` key of ours, or undefined when it can. */
export function metaKeyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const labels = slash < 0 ? [] : key.slice(0, slash).split(".");
  if (!labels.every((part) => label.test(part)) || !name.test(key.slice(slash + 1))) {
    return `has the key "${key}", which is not of the form prefix.labels/name`;
  }
  if (labels[1] === "modelcontextprotocol" || labels[1] === "mcp") {
    return `has the key "${key}", whose prefix is reserved for MCP itself`;
  }
  return undefined;
}

/** Why `identifier` cannot name an extension: it follows the rules for `_meta` keys and always has a prefix. */
export function extensionIdProblem(identifier: string): string | undefined {
  const slash = identifier.indexOf("/");
  const labels = identifier.slice(0, Math.max(slash, 0)).split(".");
  const wellFormed =
    slash > 0 && labels.every((part) => label.test(part)) && name.test(identifier.slice(slash + 1));
  return wellFormed ? undefined : "is not of the form vendor.prefix/name";
}
