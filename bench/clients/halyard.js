// Halyard's client, as the benchmarks use every client.
import { connect } from "halyard/client";
import { INFO } from "../baselines/messages.js";

const revisions = { modern: "2026-07-28", legacy: "2025-11-25" };

/** `{ url, fetch, era, remembered, elicit, target }`: `target` instead of `url` for a command. */
export async function connectHalyard({ url, target = url, fetch, era, remembered, elicit }) {
  const client = await connect(target, {
    info: INFO,
    revision: remembered || era === undefined ? "auto" : revisions[era],
    remembered,
    ...(fetch && { fetch }),
    ...(elicit && { onElicit: { form: elicit } }),
  });
  return {
    call: async (text) => (await client.callTool("echo", { text })).content[0].text,
    callWithProgress: async (text, onProgress) =>
      (await client.callTool("echo", { text }, { onProgress })).content[0].text,
    callWithRounds: async (text) => (await client.callTool("ask", { text })).content[0].text,
    list: async () => (await client.listTools({ fresh: true })).length,
    cachedList: async () => (await client.listTools()).length,
    listen: (uri, onChange) => client.listen({ resources: [uri] }, onChange),
    remember: () => client.remember(),
    close: () => client.close(),
  };
}
