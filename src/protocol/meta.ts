// The reserved keys of `_meta`, and the syntax of its keys.

const prefix = "io.modelcontextprotocol/";

type Name =
  | "protocolVersion"
  | "clientCapabilities"
  | "clientInfo"
  | "logLevel"
  | "serverInfo"
  | "subscriptionId"
  | "relatedTask";

export const metaKeys: Readonly<Record<Name, string>> = {
  protocolVersion: `${prefix}protocolVersion`,
  clientCapabilities: `${prefix}clientCapabilities`,
  clientInfo: `${prefix}clientInfo`,
  logLevel: `${prefix}logLevel`,
  serverInfo: `${prefix}serverInfo`,
  subscriptionId: `${prefix}subscriptionId`,
  relatedTask: `${prefix}related-task`,
};

/** The extensions that Halyard implements. */
export const extensionIds: { readonly tasks: string } = { tasks: `${prefix}tasks` };

/** Whether `_meta` makes its request a modern one. */
export function hasModernKey(meta: { readonly [key: string]: unknown }): boolean {
  return meta[metaKeys.protocolVersion] !== undefined || meta[metaKeys.clientCapabilities] !== undefined;
}

const label = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/i;
const name = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)?$/i;

/** Why an author cannot use `key` in `_meta`, or undefined. */
export function metaKeyProblem(key: string): string | undefined {
  const labels = labelsOf(key);
  const problem =
    labels === undefined
      ? "which must have the form prefix.labels/name"
      : labels[1] === "modelcontextprotocol" || labels[1] === "mcp"
        ? "whose prefix MCP reserves: use your own domain"
        : undefined;
  return problem && `has the key "${key}", ${problem}`;
}

/** Why `identifier` cannot name an extension, or undefined. It follows the rules for `_meta` keys and must have a prefix. */
export function extensionIdProblem(identifier: string): string | undefined {
  return labelsOf(identifier)?.length ? undefined : "must have the form vendor.prefix/name";
}

/** The labels of the prefix of a key, none if it has no prefix; undefined if the key is malformed. */
function labelsOf(key: string): string[] | undefined {
  const slash = key.indexOf("/");
  const labels = slash < 0 ? [] : key.slice(0, slash).split(".");
  return labels.every((part) => label.test(part)) && name.test(key.slice(slash + 1)) ? labels : undefined;
}
