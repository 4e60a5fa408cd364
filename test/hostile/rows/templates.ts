// URIs as long as the limits allow, against templates that can be read in many ways: matching them costs next to nothing.
import type { JsonObject } from "halyard";
import type { TestClient } from "halyard/testing";
import { expect } from "vitest";
import { makeServer } from "../../support/catalogue.ts";
import { cpuTime } from "../../support/cpu-time.ts";
import { listen } from "../../support/listen.ts";
import { until } from "../../support/turns.ts";
import { type ClientOptions, openDoor } from "../mounts.ts";
import type { Row } from "../row.ts";

const template = "note:///{+path}{?page,limit,sort,order,filter*,q,since,until,tag*}";
const alice: ClientOptions = { user: "alice", scopes: "read" };

/** Different ones, each of 8,000 characters. */
const urisOf = (count: number, unit: string): string[] =>
  Array.from({ length: count }, (_, at) => `note:///${at}?page=1${unit.repeat(8000)}`.slice(0, 8000));

/** By what is sent: how it is, and how many milliseconds of processor time it may take at both ends together. */
const requests: Readonly<
  Record<string, { revision?: string; most: number; send(client: TestClient): Promise<unknown> }>
> = {
  "one listen": {
    revision: "2026-07-28",
    most: 700,
    send: (client) => listen(client, { resourceSubscriptions: urisOf(65, "&tag=") }, "l"),
  },
  "one batch of reads": {
    revision: "2025-03-26",
    most: 1200,
    async send(client) {
      const before = client.received.length;
      const batch = urisOf(100, "&filter=a").map((uri, id) => read(`r${id}`, uri));
      client.sendText(JSON.stringify(batch));
      await until(() => client.received.length >= before + batch.length, 30_000);
    },
  },
  "fifty reads": {
    most: 700,
    async send(client) {
      for (const uri of urisOf(50, "/a")) await client.request("resources/read", { uri });
    },
  },
  "fifty subscriptions": {
    most: 700,
    async send(client) {
      for (const uri of urisOf(50, "&x=")) await client.request("resources/subscribe", { uri });
    },
  },
};

function read(id: string, uri: string): JsonObject {
  return { jsonrpc: "2.0", id, method: "resources/read", params: { uri } };
}

export const templateRows: readonly Row[] = Object.entries(requests).map(
  ([name, { revision, most, send }]): Row => ({
    over: "messages",
    name: `${name} with the longest URIs there may be costs little, though templates that name scopes match them`,
    leftOut: {
      stdio: "does not know who reads the streams of a test, and refuses what names scopes",
      ...(revision && { "HTTP+SSE": "is of another revision" }),
    },
    async attack(mount) {
      const { server } = makeServer({ limits: { maxSubscribedLength: 1024 * 1024 } });
      server.resourceTemplate(template, { scopes: ["read"] }, () => "");
      const client = await (
        await openDoor(mount, server)
      ).connect({ ...alice, ...(revision && { revision }) });
      expect(await cpuTime(() => send(client))).toBeLessThan(most);
    },
  }),
);
