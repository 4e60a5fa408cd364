// The parts of a server that a window shows.
import type { Core } from "../../server/calls/core.ts";
import type { ServerPort } from "../../server/calls/port.ts";
import { endpointsOf, type OpenEndpoint } from "../../transports/http/open-endpoints.ts";
import type { RunningCalls } from "./running-calls.ts";

export class Inside {
  readonly port: ServerPort;
  readonly core: Core;
  readonly calls: RunningCalls;

  constructor(port: ServerPort, core: Core, calls: RunningCalls) {
    this.port = port;
    this.core = core;
    this.calls = calls;
  }

  get endpoints(): ReadonlySet<OpenEndpoint> {
    return endpointsOf(this.port);
  }
}
