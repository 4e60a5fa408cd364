// What users of other frameworks expect of headers, and what replaces it here.
import { refuseNames } from "../../refused-names.ts";

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

/** The methods of `Headers`, which `ctx.headers` is none of. */
const otherNames = refuseNames(
  {},
  { subject: "ctx.headers", methods: { [methods]: 'ctx.headers["x-name"], in lower case' } },
);

/** What `ctx.headers` inherits: it is read only for names that no header has, and finds one that the code writes in capitals. */
const inherited = new Proxy(otherNames, {
  get(names, name, headers: Readonly<Record<string, unknown>>) {
    const lower = typeof name === "string" && !(name in names) ? name.toLowerCase() : name;
    return lower === name ? Reflect.get(names, name, headers) : headers[lower as string];
  },
});

export function plainHeaders<Headers extends object>(headers: Headers): Headers {
  // A setter of a prototype that is a Proxy would run for each header; this way they are defined.
  return { __proto__: inherited, ...headers };
}
