// Finds the schemas of one document by identifier, anchor or pointer. It never looks outside the document.
import { isObject, type JsonObject } from "../../../base/wire/message.ts";
import type { Payer } from "./budget.ts";
import type { SchemaDraft } from "./keyword.ts";
import { innerSchemas } from "./keywords.ts";
import type { Node } from "./node.ts";

/** A schema with its own identifier, or the whole document. */
export interface SchemaResource {
  readonly uri: string;
  readonly root: JsonObject;
  readonly anchors: Map<string, JsonObject>;
  /** Anchors that dynamic references look up in the outermost entered resource. */
  readonly dynamicAnchors: Map<string, JsonObject>;
  readonly nodes: Map<object, Node>;
}

export interface ReferenceTarget {
  readonly schema: unknown;
  readonly resource: SchemaResource;
}

const maxResources = 1000;
/** The base URI of a document without an identifier. */
const noBase = "schema:///";
/** `$recursiveAnchor` has no name, so it gets one that no schema can use. */
export const recursiveAnchor = "#";

export class SchemaDocument {
  readonly draft: SchemaDraft;
  readonly root: SchemaResource;
  readonly resources: Map<string, SchemaResource> = new Map();
  /** Whether the target of a dynamic reference can depend on the resources that were entered. */
  readonly isDynamic: boolean;
  readonly #owners = new Map<JsonObject, SchemaResource>();
  readonly #payer: Payer;

  constructor(schema: JsonObject, draft: SchemaDraft, payer: Payer) {
    this.draft = draft;
    this.#payer = payer;
    this.root = this.#addResource(schema, this.#identifier(schema), noBase);
    this.#index(schema, this.root);
    const all = [...this.resources.values()];
    this.isDynamic = all.length > 1 && all.some(({ dynamicAnchors }) => dynamicAnchors.size > 0);
  }

  /** Every schema in a position where the dialect expects one. */
  targets(): ReferenceTarget[] {
    return [...this.#owners].map(([schema, resource]) => ({ schema, resource }));
  }

  has(schema: JsonObject): boolean {
    return this.#owners.has(schema);
  }

  /** The resource of `schema`, or `found` if it is not indexed. */
  ownerOf(schema: JsonObject, found: SchemaResource): SchemaResource {
    return this.#owners.get(schema) ?? found;
  }

  /** The target of a reference, or undefined if the document does not contain it. */
  find(reference: string, base: SchemaResource): ReferenceTarget | undefined {
    const [uri, fragment = ""] = splitUri(this.#absolute(reference, base.uri));
    const resource = this.resources.get(uri);
    if (resource === undefined) return undefined;
    const name = decode(fragment);
    if (name === undefined) return undefined;
    if (name === "") return { schema: resource.root, resource };
    if (name.startsWith("/")) return this.#follow(name, resource);
    const schema = resource.anchors.get(name);
    return schema && { schema, resource };
  }

  #index(schema: unknown, base: SchemaResource): void {
    if (!isObject(schema)) return;
    const identifier = this.#identifier(schema);
    const resource =
      schema === base.root || identifier === undefined
        ? base
        : this.#addResource(schema, identifier, base.uri);
    if (!this.#addAnchors(schema, resource)) return;
    for (const inner of innerSchemas(schema)) this.#index(inner, resource);
  }

  /** Returns false if they were added before: the same object may appear in several places. */
  #addAnchors(schema: JsonObject, resource: SchemaResource): boolean {
    if (this.#owners.get(schema) === resource) return false;
    this.#owners.set(schema, resource);
    const { $anchor, $dynamicAnchor, $recursiveAnchor } = schema;
    if (typeof $anchor === "string") resource.anchors.set($anchor, schema);
    if (typeof $dynamicAnchor === "string") {
      resource.anchors.set($dynamicAnchor, schema);
      resource.dynamicAnchors.set($dynamicAnchor, schema);
    }
    if ($recursiveAnchor === true && schema === resource.root)
      resource.dynamicAnchors.set(recursiveAnchor, schema);
    const id = schema[this.#idKeyword];
    if (this.draft <= 7 && typeof id === "string" && id.startsWith("#"))
      resource.anchors.set(id.slice(1), schema);
    return true;
  }

  get #idKeyword(): string {
    return this.draft === 4 ? "id" : "$id";
  }

  /** Up to draft 7, keywords beside `$ref` are ignored, and an identifier that is only a fragment is an anchor. */
  #identifier(schema: JsonObject): string | undefined {
    const id = schema[this.#idKeyword];
    if (
      typeof id !== "string" ||
      (this.draft <= 7 && (typeof schema["$ref"] === "string" || id.startsWith("#")))
    )
      return undefined;
    return id;
  }

  #addResource(root: JsonObject, identifier: string | undefined, base: string): SchemaResource {
    const [uri] = splitUri(this.#absolute(identifier ?? "", base));
    const known = this.resources.get(uri);
    if (known !== undefined && known.root !== root)
      throw new TypeError(`two schemas have the identifier "${uri}"`);
    const resource = known ?? {
      uri,
      root,
      anchors: new Map(),
      dynamicAnchors: new Map(),
      nodes: new Map(),
    };
    this.resources.set(uri, resource);
    if (this.resources.size > maxResources)
      throw new TypeError(`more than ${maxResources} schemas have identifiers`);
    return resource;
  }

  /** Takes time for each character of the base, so one long identifier would multiply the cost of all references. */
  #absolute(reference: string, base: string): string {
    this.#payer.spend(20 + ((reference.length + base.length) >> 2));
    if (reference === "" || reference.startsWith("#")) return splitUri(base)[0] + reference;
    try {
      return new URL(reference, base).href;
    } catch {
      return reference;
    }
  }

  #follow(pointer: string, from: SchemaResource): ReferenceTarget | undefined {
    let resource = from;
    let schema: unknown = from.root;
    for (const part of pointer.slice(1).split("/")) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof schema !== "object" || schema === null || !Object.hasOwn(schema, name)) return undefined;
      schema = (schema as JsonObject)[name];
      if (isObject(schema)) resource = this.ownerOf(schema, resource);
    }
    return { schema, resource };
  }
}

function splitUri(uri: string): [uri: string, fragment: string | undefined] {
  const hash = uri.indexOf("#");
  return hash === -1 ? [uri, undefined] : [uri.slice(0, hash), uri.slice(hash + 1)];
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
