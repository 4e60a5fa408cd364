// resources/list for templates with `list`: their resources follow the registered ones, page by page, for each caller.
import { encodeShape } from "../../protocol/codec.ts";
import { isObject } from "../../base/wire/message.ts";
import type { Call } from "../calls/call.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Entry } from "../catalogue/registry.ts";
import type { CompiledTemplate, ListedResource, TemplateOptions } from "../catalogue/resources.ts";
import { visibleTo } from "../catalogue/scopes.ts";

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
