// This node as the views see it: the server, its endpoint, the figures sampled while a page is open, and the followed clients.
import type { Endpoint } from "../../transports/http/endpoint.ts";
import type { Core } from "../../server/calls/core.ts";
import { coreOf } from "../../server/calls/port.ts";
import { Follower } from "../following/follower.ts";
import { Looking } from "../sampling/looking.ts";
import type { About } from "../answers.ts";
import { Census } from "./census.ts";
import { Sought } from "./sought.ts";

/** The dashboard's options; read for each question, because an address is known late. */
export interface NodeOptions {
  /** The name of this node, the same after a restart. */
  readonly name: string;
  readonly endpoint: About["endpoint"];
  readonly tryIt: boolean;
  readonly actions: boolean;
  readonly history: number;
}

export class ServedNode {
  readonly endpoint: Endpoint;
  readonly core: Core;
  readonly looking: Looking;
  readonly follower: Follower;
  readonly census: Census;
  readonly sought: Sought;
  readonly #options: () => NodeOptions;

  constructor(endpoint: Endpoint, options: () => NodeOptions) {
    this.endpoint = endpoint;
    this.core = coreOf(endpoint.state.server);
    this.looking = Looking.at(this.core);
    this.follower = new Follower(endpoint.state, options().history);
    this.census = new Census(this.core, endpoint, this.looking);
    this.sought = new Sought(endpoint.state);
    this.#options = options;
  }

  get options(): NodeOptions {
    return this.#options();
  }
}
