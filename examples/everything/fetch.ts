// The conformance fixture as a module that serves web-standard requests.
// `bun examples/everything/fetch.ts` or `deno serve --allow-env examples/everything/fetch.ts` starts it.
import { fetchHandler, type FetchHandler } from "halyard/fetch";
import { createEverythingServer } from "./server.ts";

const handler: FetchHandler = fetchHandler(createEverythingServer({ httpStats: () => handler.stats() }));
export default { port: 0, hostname: "127.0.0.1", fetch: handler };
