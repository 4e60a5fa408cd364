// resources/list where templates list what they match: after the resources, page by page, for the caller alone.
import { encodeShape } from "../../protocol/codec.ts";
import { isObject } from "../../wire/message.ts";
import type { Call } from "../calls/call.ts";
import type { Entry } from "../catalogue/registry.ts";
import type { CompiledTemplate, ListedResource, TemplateOptions } from "../catalogue/resources.ts";
import { visibleTo } from "../catalogue/scopes.ts";

type Template = Entry<TemplateOptions, CompiledTemplate>;

const listing = new WeakMap<readonly unknown[], readonly Template[]>();

/** The templates that list for this caller: one that lacks a scope would learn from a list what is there. */
export function listingTemplates(call: Call): readonly Template[] {
  const visible = visibleTo(call.core.templates, call.grant, false);
  let found = listing.get(visible);
  if (found === undefined) {
    found = (visible as readonly Template[]).filter(({ options }) => options.list !== undefined);
    listing.set(visible, found);
  }
  return found;
}

/** A place among what templates list: the template by its sequence, and how many of its resources come before. */
export type ListedPlace = readonly [sequence: number, skipped: number];

/** At most `room` resources from a place on, and the place of the next one, if there may be one. */
export async function listFrom(
  [from, skipped]: ListedPlace,
  room: number,
  call: Call,
): Promise<{ resources: object[]; next: ListedPlace | undefined }> {
  const resources: object[] = [];
  for (const template of listingTemplates(call)) {
    const { sequence } = template;
    if (sequence < from) continue;
    const start = sequence === from ? skipped : 0;
    if (resources.length === room) return { resources, next: [sequence, start] };
    const listed = await listOf(template, call);
    const end = start + room - resources.length;
    resources.push(...listed.slice(start, end).map((item) => encodeShape(item, "resource", call.table)));
    if (end < listed.length) return { resources, next: [sequence, end] };
  }
  return { resources, next: undefined };
}

/** What a template lists, without what is registered as a resource of its own. */
async function listOf({ key, options }: Template, call: Call): Promise<ListedResource[]> {
  const listed = await options.list?.(call);
  const items: unknown = isObject(listed) ? listed["resources"] : listed;
  if (!Array.isArray(items) || !items.every((item) => isObject(item) && typeof item["uri"] === "string"))
    throw new TypeError(`list of resource template "${key}" must return resources, each with a uri`);
  const { mimeType } = options;
  return (items as ListedResource[])
    .filter(({ uri }) => call.core.resources.find(uri) === undefined)
    .map((item) => Object.assign({ name: item.uri, mimeType }, item));
}
