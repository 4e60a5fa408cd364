// Mutations of valid messages that keep their structure in mind, then some that do not.
import { readFileSync } from "node:fs";
import type { Random } from "./random.ts";

const file = (name: string): string => readFileSync(new URL(`corpus/${name}`, import.meta.url), "utf8");

/** Valid messages of every revision. */
const messages: readonly unknown[] = Object.values(
  JSON.parse(file("messages.json")) as Record<string, unknown[]>,
).flat();

const keys: readonly string[] = [
  "jsonrpc",
  "id",
  "method",
  "params",
  "result",
  "error",
  "_meta",
  "name",
  "uri",
  "arguments",
  "cursor",
  "requestState",
  "inputResponses",
  "notifications",
  "resourceSubscriptions",
  "taskIds",
  "taskId",
  "task",
  "ttl",
  "action",
  "content",
  "extensions",
  "elicitation",
  "progressToken",
  "requestId",
  "protocolVersion",
  "capabilities",
  "clientInfo",
  "io.modelcontextprotocol/protocolVersion",
  "io.modelcontextprotocol/clientCapabilities",
  "io.modelcontextprotocol/logLevel",
  "io.modelcontextprotocol/subscriptionId",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "toJSON",
  "then",
  "0",
  "",
];

const texts: readonly string[] = [
  "",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "initialize",
  "ping",
  "tools/call",
  "tools/list",
  "resources/read",
  "resources/subscribe",
  "subscriptions/listen",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "tasks/list",
  "{{task}}",
  "{{coreTask}}",
  "{{state}}",
  "server/discover",
  "notifications/cancelled",
  "notifications/initialized",
  "test_simple_text",
  "test_image_content",
  "test_elicitation",
  "test_sampling",
  "test://static-text",
  "test://template/{id}/data",
  "test://template/%00/data",
  "test://template/..%2f..%2f/data",
  "file:///etc/passwd",
  "2024-11-05",
  "2025-03-26",
  "2025-11-25",
  "2026-07-28",
  "9999-99-99",
  "WyJ0b29scyIsMl0",
  "WyJ0b29scyIsMV0=",
  "v1.c2VhdC00QQ.MAC",
  "v1..",
  "{{session}}",
  "{{event}}",
  "\u0000",
  "\r\nx-injected: 1\r\n\r\n",
  "\u2028\u2029",
  "\ud800",
  "\ufeff",
  "💥".repeat(50),
  "a".repeat(9000),
  "{".repeat(200),
  "%".repeat(300),
  "%E0%A4%A",
];

const numbers: readonly number[] = [
  0,
  -0,
  -1,
  1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  Number.MAX_SAFE_INTEGER,
  1e308,
  5e-324,
];

/** The text of a message that is nearly right, as bytes in a string. */
export function mutatedText(random: Random): string {
  let value = structuredClone(random.pick(messages));
  for (let round = random.below(4); round > 0; round--) value = mutated(value, random);
  if (random.chance(0.05)) value = Array.from({ length: random.below(130) }, () => random.pick(messages));
  const text = Buffer.from(JSON.stringify(value) ?? "").toString("latin1");
  return random.chance(0.3) ? mutateBytes(text, random) : text;
}

/** A value that a message may hold anywhere. */
function anything(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 4 : 7);
  if (kind === 0) return random.pick([null, true, false]);
  if (kind === 1) return random.pick(numbers);
  if (kind <= 3) return random.pick(texts);
  if (kind === 4) return nested(random.below(120));
  const count = random.chance(0.02) ? 2000 : random.below(4);
  if (kind === 5) return Array.from({ length: count }, () => anything(random, depth + 2));
  const object = {};
  for (let at = 0; at < count; at++) put(object, random.pick(keys), anything(random, depth + 2));
  return object;
}

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}

/** As JSON.parse does it: `__proto__` is a name like any other. */
function put(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Every place in a value, as the object that holds it and its key. */
function places(value: unknown, found: [object, string][] = []): [object, string][] {
  if (typeof value !== "object" || value === null || found.length > 200) return found;
  for (const [key, member] of Object.entries(value)) {
    found.push([value, key]);
    places(member, found);
  }
  return found;
}

function mutated(value: unknown, random: Random): unknown {
  const found = places(value);
  if (found.length === 0 || random.chance(0.03)) return anything(random);
  const [holder, key] = random.pick(found);
  const member: unknown = Reflect.get(holder, key);
  switch (random.below(7)) {
    case 0:
      if (!Array.isArray(holder)) Reflect.deleteProperty(holder, key);
      break;
    case 1:
      put(holder, random.pick(keys), anything(random));
      break;
    case 2:
      put(holder, random.pick([key.toUpperCase(), `${key} `, ` ${key}`, `${key}\u0000`]), member);
      if (random.chance(0.5)) Reflect.deleteProperty(holder, key);
      break;
    case 3:
      put(holder, key, [member]);
      break;
    case 4: {
      const [, otherKey] = random.pick(found);
      const [other] = random.pick(found);
      put(holder, key, Reflect.get(other, otherKey));
      break;
    }
    default:
      put(holder, key, anything(random));
  }
  return isFinite(value) ? value : anything(random);
}

/** Moving values about may have made a circle. */
function isFinite(value: unknown): boolean {
  try {
    return (JSON.stringify(value) ?? "").length < 200_000;
  } catch {
    return false;
  }
}

const splices: readonly string[] = [
  "\u0000",
  '"',
  "\\",
  "\\u0000",
  "\\ud800",
  "\xff\xfe",
  "\xef\xbb\xbf",
  "\xc0\xaf",
  "[",
  "{",
  "}",
  ",",
  ":",
  "\n",
  "\r\n",
  "1e999",
  "-",
  '"id":1,',
  '"__proto__":{"x":1},',
  "\xe2\x80\xa8",
  "NaN",
];

/** Cuts, doubles, flips and splices bytes. */
export function mutateBytes(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const size = 1 + random.below(random.chance(0.8) ? 4 : 200);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(at + size);
    case 2:
      return (
        text.slice(0, at) + text.slice(at, at + size).repeat(2 + random.below(3)) + text.slice(at + size)
      );
    case 3:
      return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    default:
      return text.slice(0, at) + random.pick(splices) + text.slice(at);
  }
}
