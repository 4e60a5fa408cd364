// Runs the same test over every revision and transport that it applies to.
import type { ClientCapabilities, Servable } from "halyard";
import { connect, protocolRevisions, type TestClient } from "halyard/testing";
import { describe } from "vitest";
import { connectHttp } from "./http-client.ts";
import { connectStdio } from "./stdio.ts";

export type Era = "modern" | "legacy";
export type Transport = "memory" | "stdio" | "http";

export interface Cell {
  readonly revision: string;
  readonly era: Era;
  readonly transport: Transport;
  /** A client of this revision, connected over this transport, its handshake done unless told otherwise. */
  connect(server: Servable, options?: CellOptions): Promise<TestClient>;
}

export interface CellOptions {
  readonly capabilities?: ClientCapabilities;
  readonly handshake?: boolean;
}

export interface MatrixOptions {
  readonly eras?: readonly Era[];
  /** The oldest revision that the tests apply to. */
  readonly since?: string;
  /** The newest revision that the tests apply to. */
  readonly until?: string;
  readonly transports?: readonly Transport[];
}

/** The transports on which every message of a peer shares one pipe; HTTP says some things by status and connection instead. */
export const pipes: readonly Transport[] = ["memory", "stdio"];

const connectors = { memory: connect, stdio: connectStdio, http: connectHttp };

/** Every cell of the matrix that `options` leaves in. */
export function cells(options: MatrixOptions = {}): Cell[] {
  const {
    eras = ["modern", "legacy"],
    since = "",
    until = "9999",
    transports = ["memory", "stdio", "http"],
  } = options;
  return protocolRevisions
    .filter(({ date, era }) => eras.includes(era) && date >= since && date <= until)
    .flatMap(({ date: revision, era }) =>
      transports.map((transport) => ({
        revision,
        era,
        transport,
        connect: (server, given) => connectors[transport](server, { revision, ...given }),
      })),
    );
}

/** Describes the tests of `body` once for each cell. */
export function describeMatrix(title: string, options: MatrixOptions, body: (cell: Cell) => void): void {
  describe.each(cells(options))(`${title} · $revision · $transport`, body);
}
