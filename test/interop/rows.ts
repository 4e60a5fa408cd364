// Every official client with every way to reach a server.
import { afterAll, beforeAll, expect } from "vitest";
import type { Asked } from "./answers.ts";
import { type InteropClient, officialClients, type Row } from "./clients.ts";
import type { Subject, Target, Way } from "./ways.ts";

export function rowsOf(ways: readonly Way[]): (Way & Row)[] {
  return ways.flatMap((way) => officialClients.map((client) => Object.assign({}, way, client)));
}

/** The client of a row, connected for all tests of a describe block; in the end it must have understood everything. */
export function connected({ start, connect }: Way & Row, subject: Subject): Connected {
  let target: Target;
  let client: InteropClient;
  let seen = 0;
  beforeAll(async () => {
    target = await start(subject);
    client = await connect(target);
  });
  afterAll(async () => {
    expect(client.errors).toEqual([]);
    await client.close();
    await target.close();
  });
  return {
    client: () => client,
    newlyAsked() {
      const asked = client.asked.slice(seen);
      seen = client.asked.length;
      return asked;
    },
  };
}

export interface Connected {
  client(): InteropClient;
  /** What the client was asked since it was last looked at. */
  newlyAsked(): readonly Asked[];
}
