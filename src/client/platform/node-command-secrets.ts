// The secrets in the arguments and variables of a command, which errors must not show.
import { isSecretSetting } from "../redaction/secret-names.ts";
import type { Secrets } from "../redaction/secrets.ts";
import { shownUrl } from "../settings/shown.ts";
import { type Variables, withVariableNames } from "../settings/used-variables.ts";

/** Adds the secrets in the arguments and variables of a command. */
export function addCommandSecrets(
  secrets: Secrets,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): void {
  const settings = [...args.keys()].map((at) => settingOf(args, at));
  for (const [name, value] of [...settings, ...Object.entries(env)])
    for (const secret of secretsIn(name, value)) secrets.add("secret", secret, `command ${name}`);
}

/** The arguments as errors show them: without secrets, and without the query of a URL. */
export function shownArguments(args: readonly string[], variables: Variables): string[] {
  return args.map((argument, at) => {
    const [name, value] = settingOf(args, at);
    const safe = isUrl(value)
      ? shownUrl(value)
      : secretsIn(name, value).reduce((text, secret) => text.replaceAll(secret, "[redacted]"), value);
    return withVariableNames(argument.slice(0, argument.length - value.length) + safe, variables);
  });
}

const option = /^--?([\w.-]+)(?:=(.*))?$/s;

/** The name and the value of an argument: `--api-key=value`, or the value after `--api-key`. */
function settingOf(args: readonly string[], at: number): readonly [name: string, value: string] {
  const argument = args[at] as string;
  const [isOption, name = "", value] = option.exec(argument) ?? [];
  if (isOption !== undefined) return [name, value ?? ""];
  const [, before = "", given] = option.exec(args[at - 1] ?? "") ?? [];
  return [given === undefined ? before : "", argument];
}

/** A named value inside of another value: in the query of a URL, a header, JSON, or the parts of a connection string. */
const pair =
  /([\w.-]{1,60})(?:=|["']?:(?!\/\/)\s*["']?)(?:(?:bearer|basic|dpop|token)\s+)?([^"'&;,\s<>(){}=?]{6,}=*)/gi;

/** The secrets in a value: the whole value if its name marks it as secret. */
function secretsIn(name: string, value: string): string[] {
  if (value === "") return [];
  if (isSecretSetting(name)) return [value];
  const found = [...value.matchAll(pair)];
  const inside = found.flatMap(([, inner = "", secret = ""]) => (isSecretSetting(inner) ? [secret] : []));
  if (!isUrl(value)) return inside;
  const { username, password } = new URL(value);
  // Some services expect the token as the user name.
  return [password || username, ...inside].filter((secret) => secret !== "");
}

function isUrl(value: string): boolean {
  return /^[\w+.-]+:\/\//.test(value) && URL.canParse(value);
}
