// The arguments of the handler of a resource. Those of other packages get a URL there, or the variables of the template.
import { refuseNames } from "../../refused-names.ts";

const usage = "a handler gets ({ uri, params }, ctx)";
const partsOfUrl = ["href", "pathname", "host", "hostname", "searchParams"];

/** What the arguments inherit: names that would otherwise read undefined. Those of `Object.prototype` stay. */
export function argumentNames(variables: readonly string[]): object {
  const read: Record<string, string> = {};
  for (const name of partsOfUrl) read[name] = `args.uri: ${usage}`;
  for (const name of variables) if (!(name in Object.prototype)) read[name] = `args.params.${name}: ${usage}`;
  return refuseNames({}, { subject: "args", methods: {}, read });
}

export function argumentsOf(names: object, given: object): object {
  return Object.assign(Object.create(names) as object, given);
}
