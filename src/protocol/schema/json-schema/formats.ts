// The formats that validation checks, each in linear time: no expression here can match the same characters in two ways.

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
  ["url", long(isUrlFormat)],
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

function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

const timeParts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const minutesOfDay = 24 * 60;

function isTime(text: string): boolean {
  const parts = timeParts.exec(text);
  if (parts === null) return false;
  const [hour = 0, minute = 0, second = 0, , offsetHour = 0, offsetMinute = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // A leap second is the last second of a day in UTC.
  const offset = (offsetHour * 60 + offsetMinute) * (parts[4] === "-" ? -1 : 1);
  return (hour * 60 + minute - offset + 2 * minutesOfDay) % minutesOfDay === minutesOfDay - 1;
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[t\s]$/i.test(text.charAt(10)) && isTime(text.slice(11));
}

const durationParts =
  /^P(?:\d+W|(?=[\dT])(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/;

function isDuration(text: string): boolean {
  return durationParts.test(text);
}

/** Splits a reference at its delimiters: each part ends at the first character that it cannot contain. */
const uriParts = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/;
const scheme = /^[a-z][a-z0-9+.-]*$/i;
const badEscape = "%(?![0-9a-fA-F]{2})";
const notUserInfo = new RegExp(`[^\\w.~!$&'()*+,;=:%-]|${badEscape}`);
const notName = new RegExp(`[^\\w.~!$&'()*+,;=%-]|${badEscape}`);
const notPath = new RegExp(`[^\\w.~!$&'()*+,;=:@/%-]|${badEscape}`);
const notQuery = new RegExp(`[^\\w.~!$&'()*+,;=:@/?%-]|${badEscape}`);
const futureAddress = /^v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+$/i;

function isUri(text: string): boolean {
  return isReference(text, true);
}

function isUriReference(text: string): boolean {
  return isReference(text, false);
}

function isReference(text: string, needsScheme: boolean): boolean {
  // Without a scheme, the first segment of a path cannot contain a colon.
  const colon = /^[^:/?#]*:/.test(text);
  const parts = uriParts.exec(text);
  if (parts === null || (needsScheme && !colon)) return false;
  const [, name, authority, path = "", query = "", fragment = ""] = parts;
  if (colon && !scheme.test(name ?? "")) return false;
  if (authority !== undefined && !isAuthority(authority)) return false;
  return !notPath.test(path) && !notQuery.test(query) && !notQuery.test(fragment);
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at !== -1 && notUserInfo.test(text.slice(0, at))) return false;
  const host = text.slice(at + 1);
  const port = /:\d*$/.exec(host)?.[0] ?? "";
  const name = host.slice(0, host.length - port.length);
  return isBracketed(name) ?? !notName.test(name);
}

/** Whether the address in brackets is valid; undefined if there are no brackets. */
function isBracketed(host: string): boolean | undefined {
  if (!host.startsWith("[") || !host.endsWith("]")) return undefined;
  const address = host.slice(1, -1);
  return isIpv6(address) || futureAddress.test(address);
}

const pageParts = /^(?:https?|ftp):\/\/([^\s/?#]+)(?:[/?#]\S*)?$/i;
const pageLabel = /^[a-z0-9\u00a1-\uffff](?:[a-z0-9\u00a1-\uffff-]*[a-z0-9\u00a1-\uffff])?$/i;

/** Whether `text` is an absolute URL with a host, as people type it: letters of any script may be unescaped. */
function isUrlFormat(text: string): boolean {
  const authority = pageParts.exec(text)?.[1];
  if (authority === undefined) return false;
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d{1,5}$/, "");
  if (host.length > 255) return false;
  return isBracketed(host) ?? (isIpv4(host) || host.split(".").every((label) => pageLabel.test(label)));
}

const expression = /^[+#./;?&=,!@|]?(?:[\w.,:*]|%[0-9a-f]{2})+$/i;
const variable = /^(?:\w|%[0-9a-f]{2})+(?:\.(?:\w|%[0-9a-f]{2})+)*(?::[1-9]\d{0,3}|\*)?$/i;
const notLiteral = new RegExp(`[\\x00-\\x20\\x7f"<>\\\\^\`{|}]|${badEscape}`);
const longestExpression = 1000;

function isUriTemplate(text: string): boolean {
  let literal = "";
  let end = 0;
  for (const { 0: whole, 1: inside = "", index } of text.matchAll(/\{([^{}]*)\}/g)) {
    if (inside.length > longestExpression || !expression.test(inside)) return false;
    const variables = inside.replace(/^[+#./;?&=,!@|]/, "").split(",");
    if (!variables.every((one) => variable.test(one))) return false;
    literal += text.slice(end, index);
    end = index + whole.length;
  }
  return !notLiteral.test(literal + text.slice(end));
}

const byte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

function isIpv4(text: string): boolean {
  return ipv4.test(text);
}

/** Eight groups; `::` replaces omitted ones, and an IPv4 address may replace the last two. */
function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const endsInIpv4 = last.includes(".") && text.endsWith(last) && isIpv4(last);
  if (endsInIpv4) groups.pop();
  const count = groups.length + (endsInIpv4 ? 2 : 0);
  return (
    groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
  );
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => label.test(part));
}

const quoted = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/;
const dotted = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(at, 0));
  const host = text.slice(at + 1);
  if (local.length > 64 || !(quoted.test(local) || dotted.test(local))) return false;
  if (!host.startsWith("[") || !host.endsWith("]")) return isHostname(host);
  const address = host.slice(1, -1);
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address);
}
