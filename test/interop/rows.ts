// Every official client with every way to reach a server.
import { officialClients, type Row } from "./clients.ts";
import type { Way } from "./ways.ts";

export function rowsOf(ways: readonly Way[]): (Way & Row)[] {
  return ways.flatMap((way) => officialClients.map((client) => Object.assign({}, way, client)));
}
