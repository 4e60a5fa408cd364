// The filter of a listening, its changes, and their names in both eras.
import { ConfigurationError } from "../../base/errors.ts";
import { flag, type Known, texts } from "../../base/kinds.ts";
import { checkOptions, givenOf } from "../../base/options.ts";
import type { ServerCapabilities } from "../../protocol/model.ts";
import { listChanged, resourceUpdated } from "../../protocol/notifications.ts";
import type { Revision } from "../../protocol/revision.ts";
import { isObject, type JsonObject } from "../../base/wire/message.ts";

/** What to listen for. */
export interface ListenFilter {
  /** The list of tools. */
  readonly tools?: boolean | undefined;
  /** The list of prompts. */
  readonly prompts?: boolean | undefined;
  /** The list of resources. */
  readonly resourceList?: boolean | undefined;
  /** The contents of these resources, by URI. */
  readonly resources?: readonly string[] | undefined;
}

/** The parts of a server that can change: one of its lists, or the contents of a resource. */
export type ChangeKind = "tools" | "prompts" | "resourceList" | "resource";

/** Something has changed, or may have: read it again. */
export interface Change {
  readonly kind: ChangeKind;
  /** The resource that has changed, or a part of one that you listen for; undefined if any of them may have changed. */
  readonly uri?: string | undefined;
  /** `gap`: it may have changed while the client was not connected, or more often than you read the changes. */
  readonly cause: "changed" | "gap";
}

/** One kind of change: its name in a filter, the notification for it, and whether a server offers it. */
interface KindRow {
  readonly kind: ChangeKind;
  readonly notification: string;
  readonly isOffered: (capabilities: ServerCapabilities) => boolean | undefined;
}

const kinds: Readonly<Record<keyof ListenFilter, KindRow>> = {
  tools: { kind: "tools", notification: listChanged.tools, isOffered: ({ tools }) => tools?.listChanged },
  prompts: {
    kind: "prompts",
    notification: listChanged.prompts,
    isOffered: ({ prompts }) => prompts?.listChanged,
  },
  resourceList: {
    kind: "resourceList",
    notification: listChanged.resources,
    isOffered: ({ resources }) => resources?.listChanged,
  },
  resources: {
    kind: "resource",
    notification: resourceUpdated,
    isOffered: ({ resources }) => resources?.subscribe,
  },
};

/**
 * Characters of a URI that a change names. Many of them may wait for a reader. Past it, the change names no URI, and says
 * "read again".
 */
const maxUri = 8192;

type Member = keyof ListenFilter;
const members = Object.keys(kinds) as Member[];
const known: Known<ListenFilter> = {
  tools: flag,
  prompts: flag,
  resourceList: flag,
  resources: { ...texts, mustBe: "a list of URIs" },
};

/** The notifications that announce changes, with the filter member that requests each. */
export const changeNotifications: ReadonlyMap<string, Member> = new Map(
  members.map((member) => [kinds[member].notification, member]),
);

/** The members of the protocol's own filter. */
const otherMembers: ReadonlyMap<string, Member> = new Map([
  ["toolsListChanged", "tools"],
  ["promptsListChanged", "prompts"],
  ["resourcesListChanged", "resourceList"],
  ["resourceSubscriptions", "resources"],
]);

function otherMember(name: string): string | undefined {
  const member = otherMembers.get(name);
  return member && `is called ${member} here`;
}

/** The filter without empty members. Throws if it is not a filter, or requests nothing. */
export function checkFilter(filter: ListenFilter): ListenFilter {
  checkOptions({ subject: "listen", such: "{ tools: true }", problem: otherMember }, filter, known);
  const { resources = [] } = filter;
  const wanted = only(filter, (member) =>
    member === "resources" ? [...new Set(resources)] : filter[member],
  );
  if (isEmpty(wanted)) {
    throw filterError("filter", `asks for nothing: set one of ${members.join(", ")}`);
  }
  return wanted;
}

export function isEmpty(filter: ListenFilter): boolean {
  return Object.keys(filter).length === 0;
}

/** The error for a filter of which the server offers nothing. */
export function nothingOffered(wanted: ListenFilter, address: string, cause?: unknown): ConfigurationError {
  const asked = Object.keys(wanted).join(", ");
  const problem = `asks for ${asked}, and ${address} announces changes of none of these: read them again when you need them`;
  return filterError("filter", problem, cause);
}

/** The parameters of `subscriptions/listen`. */
export function toListenParams(wanted: ListenFilter, { listens }: Revision): JsonObject {
  const asked = [...listens].map(([name, { notification }]) => [name, wantedBy(wanted, notification)]);
  return { notifications: givenOf(Object.fromEntries(asked) as JsonObject) };
}

/** The acknowledged part of `wanted`, and the names of acknowledged members that were not requested. */
export function readAcknowledged(
  acknowledged: unknown,
  wanted: ListenFilter,
  { listens }: Revision,
): { readonly honoured: ListenFilter; readonly unasked: readonly string[] } {
  const unasked: string[] = [];
  const honoured: { [name: string]: boolean | readonly string[] } = {};
  for (const [name, value] of Object.entries(isObject(acknowledged) ? acknowledged : {})) {
    const member = changeNotifications.get(listens.get(name)?.notification ?? "");
    const asked = member && wanted[member];
    if (member && Array.isArray(asked) && Array.isArray(value)) {
      const uris = new Set<unknown>(value);
      const kept = asked.filter((uri) => uris.has(uri));
      if (kept.length < uris.size) unasked.push(name);
      honoured[member] = kept;
    } else if (member && asked === true) honoured[member] = value === true;
    else if (value !== false) unasked.push(name);
  }
  return { honoured: only(honoured, (member) => honoured[member]), unasked };
}

/** The part of `wanted` that a legacy server offers, by its capabilities. */
export function offeredOf(wanted: ListenFilter, capabilities: ServerCapabilities): ListenFilter {
  return only(wanted, (member) => (kinds[member].isOffered(capabilities) ? wanted[member] : undefined));
}

/** The change that a notification announces; undefined if `wanted` does not include it. */
export function changeOf(
  wanted: ListenFilter,
  notification: string,
  params: JsonObject | undefined,
): Change | undefined {
  const member = changeNotifications.get(notification);
  if (!member || !wanted[member]) return undefined;
  const { kind } = kinds[member];
  if (member !== "resources") return { kind, cause: "changed" };
  const uri = params?.["uri"];
  if (typeof uri !== "string") return undefined;
  return uri.length > maxUri ? { kind, cause: "gap" } : { kind, uri, cause: "changed" };
}

/** The changes that say "read again" for everything in a filter. */
export function gapsOf({ resources = [], ...lists }: ListenFilter): Change[] {
  return [
    ...Object.keys(lists).map((member) => ({ kind: kinds[member as Member].kind, cause: "gap" as const })),
    ...resources.map((uri) => ({ kind: "resource" as const, uri, cause: "gap" as const })),
  ];
}

function wantedBy(wanted: ListenFilter, notification: string): boolean | readonly string[] | undefined {
  const member = changeNotifications.get(notification);
  return member && wanted[member];
}

/** A filter of the members for which `valueOf` returns a value. */
function only(
  given: object,
  valueOf: (member: Member) => boolean | readonly string[] | undefined,
): ListenFilter {
  const kept = members
    .filter((member) => Object.hasOwn(given, member))
    .map((member) => [member, valueOf(member)] as const)
    .filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value));
  return Object.fromEntries(kept);
}

function filterError(field: string, problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", { subject: "listen", field }, problem, { cause });
}
