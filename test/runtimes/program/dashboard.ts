// The dashboard beside a server: its page, its answers, and that both close.
import { dashboard } from "halyard/dashboard";
import { serveHttp } from "halyard/node";
import { connect } from "halyard/client";
import { call } from "./calls.ts";
import { createServer } from "./server.ts";

export async function checkDashboard(): Promise<object> {
  let address = "";
  const page = dashboard({ onOpen: (url) => void (address = url) });
  const { url, close } = await serveHttp(createServer(), { port: 0, dashboard: page });
  const client = await connect(url);
  await call(client, "echo", { text: "Hello" });
  const { origin, hash } = new URL(address);
  const shown = await fetch(origin);
  const html = await shown.text();
  const script = /src="([^"]+)"/.exec(html)?.[1] ?? "";
  const loaded = await fetch(new URL(script, origin));
  const asked = await ask(origin, decodeURIComponent(hash.replace("#token=", "")));
  const refused = await ask(origin, "another-token-that-is-long-enough");
  await client.close();
  await close();
  const after = await fetch(origin).then(
    () => "open",
    () => "closed",
  );
  return {
    page: [shown.status, shown.headers.get("content-type"), /<title>.*<\/title>/.exec(html)?.[0]],
    script: [loaded.status, (await loaded.text()).length > 10_000],
    asked: asked.status,
    refused: refused.status,
    after,
  };
}

async function ask(origin: string, token: string): Promise<Response> {
  return fetch(`${origin}/ask`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ ask: "about" }),
  });
}
