// The formats that validation checks, each in linear time: no expression here can match the same characters in two ways.
import { isDate, isDateTime, isDuration, isTime } from "../../formats/dates.ts";
import { isEmail, isHostname, isIpv4, isIpv6 } from "../../formats/hosts.ts";
import { isUri, isUriReference, isUrl } from "../../formats/uris.ts";
import { parse as parseTemplate } from "../../uri-template-parse.ts";

export interface Format {
  readonly fits: (text: string) => boolean;
  readonly maxLength: number;
  /** The cost of checking a text. */
  readonly stepsOf: (text: string) => number;
}

/** A format whose texts are always short. */
function short(fits: Format["fits"], maxLength: number): Format {
  return { fits, maxLength, stepsOf: ({ length }) => length >> 2 };
}

function long(fits: Format["fits"]): Format {
  return { fits, maxLength: Infinity, stepsOf: ({ length }) => length >> 3 };
}

export const formats: ReadonlyMap<string, Format> = new Map([
  ["date", short(isDate, 10)],
  ["time", short(isTime, 256)],
  ["date-time", short(isDateTime, 256)],
  ["duration", short(isDuration, 256)],
  ["email", short(isEmail, 320)],
  ["hostname", short(isHostname, 253)],
  ["ipv4", short(isIpv4, 15)],
  ["ipv6", short(isIpv6, 45)],
  ["uuid", short((text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text), 36)],
  ["uri", long(isUri)],
  ["uri-reference", long(isUriReference)],
  ["uri-template", { fits: isUriTemplate, maxLength: Infinity, stepsOf: ({ length }) => length * 2 }],
  ["url", long(isUrl)],
  ["json-pointer", long(isJsonPointer)],
  ["json-pointer-uri-fragment", long(isPointerFragment)],
  ["relative-json-pointer", long(isRelativePointer)],
  ["regex", { fits: isRegex, maxLength: 10_000, stepsOf: stepsOfRegex }],
]);

function isJsonPointer(text: string): boolean {
  return (text === "" || text.startsWith("/")) && !/~(?![01])/.test(text);
}

function isPointerFragment(text: string): boolean {
  return (
    text.startsWith("#") &&
    !/[^\w\-.!$&'()*+,;:=@~/%#]|%(?![0-9a-f]{2})|.#/i.test(text) &&
    isJsonPointer(text.slice(1))
  );
}

function isRelativePointer(text: string): boolean {
  const number = /^(?:0|[1-9]\d*)/.exec(text)?.[0];
  if (number === undefined) return false;
  const rest = text.slice(number.length);
  return rest === "#" || isJsonPointer(rest);
}

/** The engine parses an expression in linear time, but slowly, and reads a table for each property of Unicode. */
function stepsOfRegex(text: string): number {
  return text.length * 2 + (text.match(/\\p/gi)?.length ?? 0) * 1000;
}

function isRegex(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function isUriTemplate(text: string): boolean {
  try {
    return parseTemplate(text) !== undefined;
  } catch {
    return false;
  }
}
