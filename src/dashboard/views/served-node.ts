// This node as the views see it: the server, its endpoints, and what is sampled while somebody looks.
import type { Endpoint } from "../../http/endpoint.ts";
import type { Core } from "../../server/calls/core.ts";
import { coreOf, type ServerPort } from "../../server/calls/port.ts";
import { Looking } from "../sampling/looking.ts";
import type { About } from "../answers.ts";

/** What the dashboard's options say; read at each question, since an address is known late. */
export interface NodeOptions {
  /** The name of this node, the same after a restart. */
  readonly name: string;
  readonly endpoint: About["endpoint"];
  readonly tryIt: boolean;
  readonly actions: boolean;
  readonly history: number;
}

export class ServedNode {
  readonly server: ServerPort;
  readonly core: Core;
  readonly looking: Looking;
  readonly options: NodeOptions;
  /** The endpoints that have this dashboard. */
  readonly endpoints: Set<Endpoint> = new Set();

  constructor(server: ServerPort, options: NodeOptions) {
    this.server = server;
    this.core = coreOf(server);
    this.looking = Looking.at(this.core);
    this.options = options;
  }
}
