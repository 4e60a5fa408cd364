// Restores a session that another node started, or that this node had dropped.
import { Connection, ownOptions } from "../server/context/connection.ts";
import type { SessionRecord } from "../session/record.ts";
import { HttpSession } from "./session.ts";
import type { StreamHost } from "./streams/session-streams.ts";

/** Undefined if this server does not support its revision. */
export function reviveSession(
  host: StreamHost,
  record: SessionRecord,
  caller: string,
): HttpSession | undefined {
  const { id, principal, clientInfo, clientCapabilities, logLevel, initialized, changes } = record;
  const revision = host.server.revisions.find(record.revision);
  if (revision?.era !== "legacy") return undefined;
  const connection = Object.assign(
    new Connection({ transport: "http", session: id, principal, caller }, ownOptions),
    {
      revision,
      clientInfo,
      clientCapabilities,
      logLevel,
      initialized,
      changes,
    },
  );
  const session = new HttpSession(host, connection, record.subscriptions);
  session.saved.adopt(record);
  session.streams.revived();
  return session;
}
