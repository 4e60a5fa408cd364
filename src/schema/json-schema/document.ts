// The schemas of one document by their names: identifiers, anchors and pointers. Nothing outside the document exists.
import { isObject, type JsonObject } from "../../wire/message.ts";
import type { Draft } from "./keyword.ts";
import { innerSchemas } from "./keywords.ts";
import type { Node } from "./node.ts";

/** A schema with an identifier of its own, or the whole document. */
export interface Resource {
  readonly uri: string;
  readonly root: JsonObject;
  readonly anchors: Map<string, JsonObject>;
  /** Anchors that a reference finds in the outermost resource on the way. */
  readonly dynamicAnchors: Map<string, JsonObject>;
  readonly nodes: Map<object, Node>;
}

export interface Target {
  readonly schema: unknown;
  readonly resource: Resource;
}

const maxResources = 1000;
/** The base of a document that has no identifier. */
const noBase = "schema:///";
/** `$recursiveAnchor` has no name: it counts as an anchor that cannot be written. */
export const recursiveAnchor = "#";

export class SchemaDocument {
  readonly draft: Draft;
  readonly root: Resource;
  readonly resources: Map<string, Resource> = new Map();
  /** Whether it can matter by which way a schema was reached. */
  readonly isDynamic: boolean;
  readonly #owners = new Map<JsonObject, Resource>();

  constructor(schema: JsonObject, draft: Draft) {
    this.draft = draft;
    this.root = this.#addResource(schema, this.#identifier(schema), noBase);
    this.#index(schema, this.root);
    const all = [...this.resources.values()];
    this.isDynamic = all.length > 1 && all.some(({ dynamicAnchors }) => dynamicAnchors.size > 0);
  }

  /** Every schema that stands where a schema is expected. */
  targets(): Target[] {
    return [...this.#owners].map(([schema, resource]) => ({ schema, resource }));
  }

  has(schema: JsonObject): boolean {
    return this.#owners.has(schema);
  }

  /** The resource that `schema` begins, or the one that it is found in. */
  ownerOf(schema: JsonObject, found: Resource): Resource {
    return this.#owners.get(schema) ?? found;
  }

  /** What a reference leads to; undefined when that is not in the document. */
  find(reference: string, base: Resource): Target | undefined {
    const [uri, fragment = ""] = splitUri(absolute(reference, base.uri));
    const resource = this.resources.get(uri);
    if (resource === undefined) return undefined;
    const name = decode(fragment);
    if (name === undefined) return undefined;
    if (name === "") return { schema: resource.root, resource };
    if (name.startsWith("/")) return this.#follow(name, resource);
    const schema = resource.anchors.get(name);
    return schema && { schema, resource };
  }

  #index(schema: unknown, base: Resource): void {
    if (!isObject(schema)) return;
    const identifier = this.#identifier(schema);
    const resource =
      schema === base.root || identifier === undefined
        ? base
        : this.#addResource(schema, identifier, base.uri);
    if (!this.#addAnchors(schema, resource)) return;
    for (const inner of innerSchemas(schema)) this.#index(inner, resource);
  }

  /** False when they are there already: the same object may stand in several places. */
  #addAnchors(schema: JsonObject, resource: Resource): boolean {
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

  /** Up to draft 7, what stands beside a `$ref` is ignored, and an identifier that is only a fragment is an anchor. */
  #identifier(schema: JsonObject): string | undefined {
    const id = schema[this.#idKeyword];
    if (
      typeof id !== "string" ||
      (this.draft <= 7 && (typeof schema["$ref"] === "string" || id.startsWith("#")))
    )
      return undefined;
    return id;
  }

  #addResource(root: JsonObject, identifier: string | undefined, base: string): Resource {
    const [uri] = splitUri(absolute(identifier ?? "", base));
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

  #follow(pointer: string, from: Resource): Target | undefined {
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

function absolute(reference: string, base: string): string {
  if (reference === "" || reference.startsWith("#")) return splitUri(base)[0] + reference;
  try {
    return new URL(reference, base).href;
  } catch {
    return reference;
  }
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
