// The methods of resources: reading one, the subscriptions of legacy sessions, and the resources that templates list.
import {
  clip,
  invalidParams,
  invalidRequest,
  ProtocolError,
  ResourceNotFoundError,
} from "../../base/errors.ts";
import { encodeShape } from "../../protocol/codec.ts";
import type { ReadResourceResult } from "../../protocol/model.ts";
import { resourceUpdated } from "../../protocol/notifications.ts";
import { climbsOut, isResourceUri } from "../../protocol/uri.ts";
import type { Hub } from "../push/hub.ts";
import type { Listener } from "../push/listener.ts";
import { topicOf } from "../push/topic.ts";
import type { Call } from "../calls/call.ts";
import { converted, unsendable } from "../calls/failure.ts";
import type { MethodHandler } from "../calls/seams.ts";
import { cacheFields } from "../calls/stamp.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import {
  type CompiledTemplate,
  type ListedResource,
  resolveResource,
  type TemplateOptions,
} from "../catalogue/resources.ts";
import { assertTotalRoom, permittedUris } from "../catalogue/subscriptions.ts";
import { resultProblem } from "../catalogue/result-checks.ts";
import { orAsk, toReadResult } from "../catalogue/results.ts";
import type { ServerLimits } from "../settings/limits.ts";
import type { Settings } from "../settings/settings.ts";
import { isObject } from "../../base/wire/message.ts";
import type { Entry } from "../catalogue/registry.ts";
import { visibleTo } from "../catalogue/scopes.ts";

export function readResource({ resources, templates }: Catalogue): MethodHandler {
  return {
    async run(call) {
      const uri = uriOf(call);
      const found = resolveResource(uri, resources, templates);
      if (!found) throw new ResourceNotFoundError(uri);
      const { options, handler } = found.source;
      const returned = orAsk(await handler(found.args, call));
      const result = converted("Resource", call, () => toReadResult(returned, uri, options.mimeType));
      return call.row.cacheable ? { ...result, ...cacheFields(options.cache) } : result;
    },

    encode(result: ReadResourceResult, call) {
      const problem = resultProblem("Resource", result);
      if (problem) throw unsendable("Resource", problem, call);
      const contents = result.contents.map((each) => encodeShape(each, "contents", call.protocol));
      return { ...result, contents };
    },
  };
}

export function subscribeResource(settings: Settings, hub: Hub): MethodHandler {
  return {
    async run(call) {
      const uri = uriOf(call);
      const { listener } = call.exchange.connection;
      if (!listener) throw notSubscribable();
      // Respond as for an unknown resource, so that the client does not learn whether it exists.
      if ((await permittedUris(settings, [uri], call)).length === 0) throw new ResourceNotFoundError(uri);
      const topic = topicOf(resourceUpdated, uri);
      if (!listener.topics.has(topic)) {
        assertRoom(settings.limits, listener, uri);
        assertTotalRoom(hub, listener.caller, [topic]);
      }
      hub.subscribe(listener, topic);
      return {};
    },
  };
}

function assertRoom(limits: ServerLimits, listener: Listener, uri: string): void {
  const { maxSubscribedKeys, maxSubscribedLength } = limits;
  if (listener.addedTopics >= maxSubscribedKeys) {
    throw invalidRequest(`A session may subscribe to at most ${maxSubscribedKeys} resources`);
  }
  if (listener.keyLength + uri.length > maxSubscribedLength) {
    throw invalidRequest(`The URIs of a session may have at most ${maxSubscribedLength} characters`);
  }
}

export function unsubscribeResource(hub: Hub): MethodHandler {
  return {
    run(call) {
      const { listener } = call.exchange.connection;
      if (!listener) throw notSubscribable();
      hub.unsubscribe(listener, topicOf(resourceUpdated, uriOf(call)));
      return {};
    },
  };
}

function notSubscribable(): ProtocolError {
  return invalidRequest("This connection cannot receive notifications");
}

function uriOf(call: Call): string {
  const { uri } = call.params;
  if (typeof uri === "string" && isResourceUri(uri) && !climbsOut(uri)) return uri;
  if (uri === undefined) throw invalidParams("uri is missing");
  const repeated = typeof uri === "string" ? { uri: clip(uri) } : undefined;
  throw invalidParams(
    "uri must be an absolute URI (RFC 3986): encode spaces, and give the variables of a template values",
    repeated,
  );
}

type Template = Entry<TemplateOptions, CompiledTemplate>;

const listing = new WeakMap<readonly unknown[], readonly Template[]>();

/** The templates with `list` that the caller may use: a list must not reveal resources to a caller who lacks a scope. */
export function listingTemplates({ templates }: Catalogue, call: Call): readonly Template[] {
  const visible = visibleTo(templates, call.grant, false);
  let found = listing.get(visible);
  if (!found) {
    found = (visible as readonly Template[]).filter(({ options }) => options.list !== undefined);
    listing.set(visible, found);
  }
  return found;
}

/** A position among the resources of templates: the template by its sequence, and the number of resources to skip. */
export type ListedPosition = readonly [sequence: number, skipped: number];

/** Returns at most `room` resources from a position, and the position of the next one, if there may be one. */
export async function listFrom(
  [from, skipped]: ListedPosition,
  room: number,
  catalogue: Catalogue,
  call: Call,
): Promise<{ resources: object[]; next: ListedPosition | undefined }> {
  const resources: object[] = [];
  for (const template of listingTemplates(catalogue, call)) {
    const { sequence } = template;
    if (sequence < from) continue;
    const start = sequence === from ? skipped : 0;
    if (resources.length === room) return { resources, next: [sequence, start] };
    const listed = await listOf(template, catalogue, call);
    const end = start + room - resources.length;
    resources.push(...listed.slice(start, end).map((item) => encodeShape(item, "resource", call.protocol)));
    if (end < listed.length) return { resources, next: [sequence, end] };
  }
  return { resources, next: undefined };
}

/** The resources that a template lists, without those that are registered themselves. */
async function listOf(
  { key, options }: Template,
  { resources }: Catalogue,
  call: Call,
): Promise<ListedResource[]> {
  const listed = await options.list?.(call);
  const items: unknown = isObject(listed) ? listed["resources"] : listed;
  if (!Array.isArray(items) || !items.every((item) => isObject(item) && typeof item["uri"] === "string"))
    throw new TypeError(
      `list of resource template "${key}" must return a list of resources such as { uri, name }`,
    );
  const { mimeType } = options;
  return (items as ListedResource[])
    .filter(({ uri }) => resources.find(uri) === undefined)
    .map((item) => Object.assign({ name: item.uri, mimeType }, item));
}
