// The arguments of the handler of a resource. Other packages pass a URL or the variables of the template instead.
import { refuseNames } from "../../base/refused-names.ts";

const usage = "a handler gets ({ uri, params }, ctx)";
const partsOfUrl = ["href", "pathname", "host", "hostname", "searchParams"];

/** The prototype of the arguments: its getters throw for names of other packages, which would otherwise read undefined. */
export function argumentNames(variables: readonly string[]): object {
  const read: Record<string, string> = {};
  for (const name of partsOfUrl) read[name] = `args.uri: ${usage}`;
  for (const name of variables) if (!(name in Object.prototype)) read[name] = `args.params.${name}: ${usage}`;
  return refuseNames({}, { subject: "args", methods: {}, read });
}

export function argumentsOf(names: object, given: object): object {
  return Object.assign(Object.create(names) as object, given);
}
