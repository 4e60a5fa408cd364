// A Worker with every entry that applies there: it serves from a Durable Object, and it calls a server elsewhere.
import * as halyard from "halyard";
import * as auth from "halyard/auth";
import * as client from "halyard/client";
import * as oauth from "halyard/client/oauth";
import * as cluster from "halyard/cluster";
import * as dashboard from "halyard/dashboard";
import { fetchHandler } from "halyard/fetch";
import * as nats from "halyard/nats";
import * as redis from "halyard/redis";
import * as transport from "halyard/transport";
import { checkRevision } from "./calls.ts";
import { createServer } from "./server.ts";

/** Named, so that no bundler leaves them out: whatever they did when they are loaded, the runtime would refuse. */
const entries = { halyard, auth, client, oauth, cluster, dashboard, nats, redis, transport };

/** What Workers bind a namespace of Durable Objects as. */
interface Env {
  readonly MCP: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

export class Mcp {
  readonly #handler = fetchHandler(createServer());

  fetch(request: Request): Promise<Response> {
    return this.#handler(request);
  }
}

export default {
  async fetch(request: Request, { MCP }: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/mcp") return MCP.get(MCP.idFromName("mcp")).fetch(request);
    if (pathname === "/entries") return Response.json(Object.keys(entries));
    const check = checkRevision(searchParams.get("url") ?? "", searchParams.get("revision") ?? "");
    return Response.json(await check.catch((error: unknown) => String(error)));
  },
};
