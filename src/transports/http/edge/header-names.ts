// The names that users of other frameworks expect on headers, and what replaces them here.
import { refuseNames } from "../../../base/refused-names.ts";

const methods = "get has";

/** Refuses `request.headers.name`: `headers` is a method, and `header(name)` reads one. */
export function refuseHeaderNames({ headers }: { readonly headers: object }): void {
  const one = "request.header(name)";
  refuseNames(headers, {
    subject: "request.headers",
    methods: { [methods]: one },
    read: { "authorization cookie x-api-key": one },
  });
}

/** The methods of `Headers`, which `ctx.headers` does not have. */
const otherNames = refuseNames(
  {},
  { subject: "ctx.headers", methods: { [methods]: 'ctx.headers["x-name"], in lower case' } },
);

/**
 * The prototype of `ctx.headers`, read only for names that no header has. It finds a header whose name the code writes in
 * capitals.
 */
const inherited = new Proxy(otherNames, {
  get(names, name, headers: Readonly<Record<string, unknown>>) {
    const lower = typeof name === "string" && !(name in names) ? name.toLowerCase() : name;
    return lower === name ? Reflect.get(names, name, headers) : headers[lower as string];
  },
});

export function plainHeaders<Headers extends object>(headers: Headers): Headers {
  // Defined in a literal, because assigning to an object with a Proxy as its prototype would call the Proxy for each header.
  return { __proto__: inherited, ...headers };
}
