// Which scopes a request needs, whether its caller has them, and what of the catalogue a caller may see.
import { errorCodes, ProtocolError } from "../errors.ts";
import type { Principal } from "../protocol/model.ts";
import { missingScopes } from "../protocol/scopes.ts";
import { isObject, type JsonObject, type RpcRequest } from "../wire/message.ts";
import type { Described } from "./catalogue/definition.ts";
import type { Entry, Registry } from "./catalogue/registry.ts";
import { resolveResource } from "./catalogue/resources.ts";
import type { Core } from "./core.ts";

const none: readonly string[] = [];

/** Whether any definition names scopes, or ever did: without one, nothing here costs a request anything. */
export function usesScopes({ tools, prompts, resources, templates }: Core): boolean {
  return tools.isScoped || prompts.isScoped || resources.isScoped || templates.isScoped;
}

/** By method: the definitions that the request names. */
const subjects: Readonly<
  Record<string, (core: Core, params: JsonObject) => readonly (Described | undefined)[]>
> = {
  "tools/call": (core, { name }) => [named(core.tools, name)],
  "prompts/get": (core, { name }) => [named(core.prompts, name)],
  "resources/read": (core, { uri }) => [resourceAt(core, uri)],
  "resources/subscribe": (core, { uri }) => [resourceAt(core, uri)],
  "subscriptions/listen": (core, { notifications }) => {
    const uris = isObject(notifications) ? notifications["resourceSubscriptions"] : undefined;
    const { maxSubscribedKeys } = core.settings.limits;
    return Array.isArray(uris) ? uris.slice(0, maxSubscribedKeys).map((uri) => resourceAt(core, uri)) : [];
  },
  "completion/complete": (core, { ref }) => {
    if (!isObject(ref)) return [];
    const { name, uri } = ref;
    return ref["type"] === "ref/prompt"
      ? [named(core.prompts, name)]
      : [named(core.templates, uri) ?? named(core.resources, uri)];
  },
};

/** Nothing has been checked yet: what is no text may not even have a way to become one, and is no name anyway. */
function named<Options extends Described>(
  registry: { find(name: string): { readonly options: Options } | undefined },
  name: unknown,
): Described | undefined {
  return typeof name === "string" ? registry.find(name)?.options : undefined;
}

function resourceAt(core: Core, uri: unknown): Described | undefined {
  return typeof uri === "string"
    ? resolveResource(uri, core.resources, core.templates)?.source.options
    : undefined;
}

/** Every scope that a message, or the messages of a batch, need together. What is no request needs none. */
export function neededScopes(core: Core, value: unknown): readonly string[] {
  if (!usesScopes(core)) return none;
  if (Array.isArray(value)) {
    const batch = value.slice(0, core.settings.limits.maxBatch);
    return [...new Set(batch.flatMap((message) => scopesOfMessage(core, message)))];
  }
  return scopesOfMessage(core, value);
}

function scopesOfMessage(core: Core, message: unknown): readonly string[] {
  if (!isObject(message) || typeof message["method"] !== "string") return none;
  const find = Object.hasOwn(subjects, message["method"]) ? subjects[message["method"]] : undefined;
  if (find === undefined) return none;
  const params = isObject(message["params"]) ? message["params"] : {};
  const found = find(core, params).flatMap((definition) => definition?.scopes ?? []);
  return [...new Set(found)];
}

/**
 * Refuses a request whose caller is known and lacks a scope. A peer that nobody in particular is at the other end of, such
 * as the parent process of a server on stdio, is not asked for any; the HTTP endpoint is stricter, before this.
 */
export function assertScopes(core: Core, message: RpcRequest, principal: Principal | undefined): void {
  if (principal === undefined || !usesScopes(core)) return;
  const needed = scopesOfMessage(core, message);
  if (missingScopes(needed, principal).length === 0) return;
  const text = `Insufficient scope: this needs ${needed.join(" ")}`;
  throw new ProtocolError(errorCodes.invalidRequest, text, { requiredScopes: needed });
}

type Entries = readonly Entry<object, unknown>[];

/** By all entries, then by the scopes of theirs that a caller has: what is visible to it. */
const views = new WeakMap<Entries, Map<string, Entries>>();

/** Callers differ in few ways; where they do not, their views are made anew. */
const maxViews = 64;

/** The entries that a caller may use, in an array that stays the same for callers who may use the same. */
export function visibleTo(
  registry: Registry<object, unknown>,
  principal: Principal | undefined,
  listsAll: boolean,
): Entries {
  const { visible } = registry;
  if (!registry.isScoped || principal === undefined || listsAll) return visible;
  const used = new Set(visible.flatMap(({ options }) => (options as Described).scopes ?? []));
  const key = [...used].filter((scope) => principal.scopes?.includes(scope)).join(" ");
  let byScopes = views.get(visible);
  if (byScopes === undefined) views.set(visible, (byScopes = new Map()));
  let view = byScopes.get(key);
  if (view === undefined) {
    if (byScopes.size >= maxViews) byScopes.clear();
    const isUsable = ({ options }: Entry<object, unknown>): boolean =>
      missingScopes((options as Described).scopes ?? none, principal).length === 0;
    byScopes.set(key, (view = visible.filter(isUsable)));
  }
  return view;
}
