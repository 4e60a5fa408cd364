// A server asks the official clients something, over stdio and through every mount.
import { expect, test, vi } from "vitest";
import { rowsOf } from "./rows.ts";
import { ways } from "./ways.ts";

const rows = rowsOf(ways);
const legacyRows = rows.filter(({ era }) => era === "legacy");
const modernRows = rows.filter(({ era }) => era === "modern");

test.each(legacyRows)(
  "ctx.ask gets the answers of $name over $way to elicitation, sampling and roots, while its call runs [ELIC-DELIVERY-LEGACY, SAMP-DELIVERY-LEGACY, ROOTS-DELIVERY-LEGACY, HTTP-SSE-RELATED]",
  async ({ start, connect }) => {
    const target = await start("asking");
    const client = await connect(target);
    const { content, isError } = await client.call("interview");
    expect(isError ?? false).toBe(false);
    expect(JSON.parse(String(content[0]?.["text"]))).toEqual([
      { colour: "blue" },
      { type: "text", text: "shoe" },
      [{ uri: "file:///home", name: "Home" }],
    ]);
    expect(client.errors).toEqual([]);
    await client.close();
    await target.close();
  },
);

test.each(legacyRows)(
  "push.ping gets a sign of life of $name over $way, outside of any call [HTTP-GET-MESSAGES]",
  async ({ start, connect }) => {
    const target = await start("asking");
    const client = await connect(target);
    // The client opens its GET stream a moment after it has connected.
    await vi.waitFor(async () => expect((await client.call("wake")).isError ?? false).toBe(false));
    expect(client.errors).toEqual([]);
    await client.close();
    await target.close();
  },
);

test.each(modernRows)(
  "ctx.ask and push.ping fail for $name over $way: a modern client is sent no requests [PING-REMOVED]",
  async ({ start, connect }) => {
    const target = await start("asking");
    const client = await connect(target);
    for (const tool of ["interview", "wake"]) expect((await client.call(tool)).isError).toBe(true);
    expect(client.errors).toEqual([]);
    await client.close();
    await target.close();
  },
);
