// Shown while no client is connected: how to connect one, with commands to copy.
import type { VNode } from "preact";
import type { About } from "../../answers.ts";
import { useAbout } from "../base/about.ts";
import { hrefOf } from "../base/router.ts";
import { Copied } from "../components/copied.tsx";
import { Empty } from "../components/empty.tsx";

export function NoClient(): VNode {
  const about = useAbout();
  return (
    <div class="no-client">
      <Empty title="No client is connected. Try:">
        {about.endpoint === undefined ? (
          <p>Connect a client to the URL at which you serve MCP.</p>
        ) : (
          commandsFor(about, about.endpoint).map(({ what, command }) => (
            <div key={what} class="command">
              <p>{what}</p>
              <Copied text={command} label={`Copy: ${what}`} />
            </div>
          ))
        )}
        {about.tryIt && (
          <p>
            Or <a href={hrefOf("try")}>try a tool in this page</a>.
          </p>
        )}
      </Empty>
    </div>
  );
}

function commandsFor({ newest }: About, endpoint: string): { what: string; command: string }[] {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: newest.legacy, capabilities: {}, clientInfo: { name: "curl", version: "1" } },
  };
  return [
    { what: "The endpoint, for any client", command: endpoint },
    {
      what: "List the tools with the Inspector",
      command: `npx @modelcontextprotocol/inspector --cli ${endpoint} --transport http --method tools/list`,
    },
    ...(newest.legacy === undefined
      ? []
      : [
          {
            what: "Open a session with curl",
            command:
              `curl -i ${endpoint} -H "content-type: application/json" ` +
              `-H "accept: application/json, text/event-stream" -d '${JSON.stringify(initialize)}'`,
          },
        ]),
  ];
}
