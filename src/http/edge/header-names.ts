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
const names = refuseNames(
  {},
  { subject: "ctx.headers", methods: { [methods]: 'ctx.headers["x-name"], in lower case' } },
);

export function plainHeaders<Headers extends object>(headers: Headers): Headers {
  return Object.assign(Object.create(names) as object, headers);
}
