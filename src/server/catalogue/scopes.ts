// Finds the scopes that a request requires, checks that the caller has them, and filters the catalogue by them.
import { errorCodes, ProtocolError } from "../../base/errors.ts";
import { revisions } from "../../protocol/revisions/index.ts";
import { type Grant, hasScope, isGranted } from "../../protocol/principal.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import { topicOf } from "../push/topic.ts";
import { isObject, type JsonObject, type RpcRequest } from "../../base/wire/message.ts";
import type { ServerLimits } from "../settings/limits.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Described } from "./definition.ts";
import type { Entry, Registry } from "./registry.ts";
import { guardOf, resolveResource } from "./resources.ts";
import { keysProblem } from "./subscriptions.ts";

const none: readonly string[] = [];

/** By method: finds the definitions that a request names. */
const subjects: Readonly<
  Record<
    string,
    (catalogue: Catalogue, params: JsonObject, limits: ServerLimits) => readonly (Described | undefined)[]
  >
> = {
  "tools/call": (catalogue, { name }) => [named(catalogue.tools, name)],
  "prompts/get": (catalogue, { name }) => [named(catalogue.prompts, name)],
  "resources/read": (catalogue, { uri }) => resourcesAt(catalogue, [uri]),
  "resources/subscribe": (catalogue, { uri }) => resourcesAt(catalogue, [uri]),
  "subscriptions/listen": (catalogue, { notifications }, limits) => {
    const member = "resourceSubscriptions";
    const uris = isObject(notifications) ? notifications[member] : undefined;
    // Without valid keys, the request subscribes to no resource and requires no scopes.
    const isRefused = keysProblem({ member, notification: resourceUpdated }, uris, limits);
    return isRefused === undefined ? resourcesAt(catalogue, uris as unknown[]) : [];
  },
  "completion/complete": (catalogue, { ref }) => {
    if (!isObject(ref)) return [];
    const { name, uri } = ref;
    return ref["type"] === "ref/prompt"
      ? [named(catalogue.prompts, name)]
      : [named(catalogue.templates, uri) ?? named(catalogue.resources, uri)];
  },
};

function canBeInBatch(catalogue: Catalogue, message: unknown): boolean {
  if (!isObject(message)) return false;
  const method = message["method"] as string;
  if (catalogue.methods.find(method)) return true;
  return revisions.some(({ hasBatches, requests }) => hasBatches && requests.has(method));
}

/** Finds a definition by name. The parameters are not validated yet, so `name` may be any value. */
function named<Options extends Described>(
  registry: { find(name: string): { readonly options: Options } | undefined },
  name: unknown,
): Described | undefined {
  return typeof name === "string" ? registry.find(name)?.options : undefined;
}

function resourcesAt(
  { resources, templates }: Catalogue,
  uris: readonly unknown[],
): readonly (Described | undefined)[] {
  // Matching templates is expensive, so skip it if no template has scopes.
  if (!templates.isScoped) return uris.map((uri) => named(resources, uri));
  return uris.map((uri) =>
    typeof uri === "string" ? resolveResource(uri, resources, templates)?.source.options : undefined,
  );
}

const updatedTopic = topicOf(resourceUpdated, "");

/** The scopes that a listener needs to receive a topic, from the current catalogue. */
export function topicScopes(
  { resources, templates }: Catalogue,
  topic: string,
): readonly string[] | undefined {
  if (!(resources.isScoped || templates.isScoped) || !topic.startsWith(updatedTopic)) return undefined;
  return guardOf(topic.slice(updatedTopic.length), resources, templates)?.scopes;
}

/** All scopes that a message, or a batch of messages, requires. Values that are not requests require none. */
export function neededScopes(catalogue: Catalogue, value: unknown, limits: ServerLimits): readonly string[] {
  if (!Array.isArray(value)) return scopesOfMessage(catalogue, value, limits);
  // The server rejects batches over the limit, and methods in them that no revision with batches has.
  if (value.length > limits.maxBatch) return none;
  const batch = value.filter((message) => canBeInBatch(catalogue, message));
  return [...new Set(batch.flatMap((message) => scopesOfMessage(catalogue, message, limits)))];
}

function scopesOfMessage(catalogue: Catalogue, message: unknown, limits: ServerLimits): readonly string[] {
  if (!isObject(message) || typeof message["method"] !== "string") return none;
  const find = Object.hasOwn(subjects, message["method"]) ? subjects[message["method"]] : undefined;
  if (!find) return catalogue.methods.find(message["method"])?.options.scopes ?? none;
  const params = isObject(message["params"]) ? message["params"] : {};
  const found = find(catalogue, params, limits).flatMap((definition) => definition?.scopes ?? []);
  return [...new Set(found)];
}

/** Returns the scopes that a request requires. Throws if the caller lacks one of them. */
export function assertScopes(
  catalogue: Catalogue,
  message: RpcRequest,
  grant: Grant,
  limits: ServerLimits,
): readonly string[] {
  if (!catalogue.isScoped) return none;
  const needed = scopesOfMessage(catalogue, message, limits);
  if (isGranted(needed, grant)) return needed;
  const text = `Insufficient scope: the request requires ${needed.join(" ")}`;
  throw new ProtocolError(errorCodes.invalidRequest, text, { requiredScopes: needed });
}

type Entries = readonly Entry<object, unknown>[];

/** The visible entries, cached by the list of all entries, then by the caller's scopes that matter to the list. */
const views = new WeakMap<Entries, Map<string, Entries>>();

/** Callers usually have few combinations of scopes. With more than this, the cache starts over. */
const maxViews = 64;

/** The entries that a caller may use. Callers with the same scopes get the same array, so that pages can be cached by it. */
export function visibleTo(registry: Registry<object, unknown>, grant: Grant, listsAll: boolean): Entries {
  const { visible } = registry;
  if (!registry.isScoped || grant === "everything" || listsAll) return visible;
  const used = new Set(visible.flatMap(({ options }) => (options as Described).scopes ?? []));
  const key = [...used].filter((scope) => hasScope(grant, scope)).join(" ");
  let byScopes = views.get(visible);
  if (!byScopes) views.set(visible, (byScopes = new Map()));
  let view = byScopes.get(key);
  if (!view) {
    if (byScopes.size >= maxViews) byScopes.clear();
    const isUsable = ({ options }: Entry<object, unknown>): boolean =>
      isGranted((options as Described).scopes, grant);
    byScopes.set(key, (view = visible.filter(isUsable)));
  }
  return view;
}
