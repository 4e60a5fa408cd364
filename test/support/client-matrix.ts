// Runs the same test with clients of every revision, over every transport, connected to a server of this process.
import type { McpServer } from "halyard";
import { connect, type ConnectOptions, type McpClient, type WireSource } from "halyard/client";
import { nodeHandler } from "halyard/node";
import { protocolRevisions } from "halyard/testing";
import { describe } from "vitest";
import { listening } from "./listening.ts";
import { openStdio, readLines } from "./stdio.ts";

type Transport = "memory" | "stdio" | "http";

export interface ClientCell {
  readonly revision: string;
  readonly era: "modern" | "legacy";
  readonly transport: Transport;
  connect(server: McpServer, options?: ConnectOptions): Promise<McpClient>;
}

export interface ClientMatrixOptions {
  readonly eras?: readonly ClientCell["era"][];
  readonly transports?: readonly Transport[];
}

const targets: { readonly [T in Transport]: (server: McpServer) => WireSource | Promise<string> } = {
  memory: (server) => server,
  stdio: (server) => ({ openWire: () => stdioWire(server) }),
  http: (server) => listening(nodeHandler(server)),
};

/** Describes the tests of `body` once for each revision and transport. */
export function describeClients(
  title: string,
  { eras = ["modern", "legacy"], transports = ["memory", "stdio", "http"] }: ClientMatrixOptions,
  body: (cell: ClientCell) => void,
): void {
  const cells = protocolRevisions
    .filter(({ era }) => eras.includes(era))
    .flatMap(({ date: revision, era }) =>
      transports.map((transport): ClientCell => {
        const open: ClientCell["connect"] = async (server, options) =>
          connect(await targets[transport](server), { revision, ...options });
        return { revision, era, transport, connect: open };
      }),
    );
  describe.each(cells)(`${title} · $revision · $transport`, body);
}

/** A wire through the framing of stdio, without a child. */
async function stdioWire(server: McpServer): Promise<Awaited<ReturnType<WireSource["openWire"]>>> {
  const { wire, output } = await openStdio(server);
  const whole = { ...wire, onClose: () => {} };
  readLines(output, (line) => whole.onMessage(line));
  return whole;
}
