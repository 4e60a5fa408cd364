// This node as the views see it: the window of its server, the figures sampled while a page is open, and the followed clients.
import type { ServerWindow } from "../../window/index.ts";
import type { About } from "../answers.ts";
import { FollowedClients } from "../following/followed-clients.ts";
import { Sampling } from "../sampling/sampling.ts";

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
  readonly window: ServerWindow;
  readonly sampling: Sampling;
  readonly clients: FollowedClients;
  readonly #options: () => NodeOptions;

  constructor(window: ServerWindow, options: () => NodeOptions) {
    this.window = window;
    this.sampling = Sampling.at(window);
    this.clients = new FollowedClients(window, options().history);
    this.#options = options;
  }

  get options(): NodeOptions {
    return this.#options();
  }
}
