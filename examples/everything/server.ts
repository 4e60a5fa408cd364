// The conformance fixture: everything that the official suite calls, and tools that control the server for other tests.
import { type Backplane, McpServer, type ServerMode } from "halyard";
import type { HttpStats } from "halyard/node";
import { addAskingTools } from "./asking.ts";
import { addChangeTools } from "./changes.ts";
import { addContentTools } from "./content.ts";
import { addHandles, SessionCounters } from "./handles.ts";
import { addNotes } from "./notes.ts";
import { addPrompts } from "./prompts.ts";
import { addReportingTools } from "./reporting.ts";
import { addResources } from "./resources.ts";
import { addRoundTools } from "./rounds.ts";
import { addSchemaTools } from "./schemas.ts";
import { addTaskTools } from "./tasks.ts";

export interface EverythingOptions {
  readonly mode?: ServerMode;
  /** Returns what the HTTP endpoint holds; undefined without HTTP. */
  readonly httpStats?: () => HttpStats | undefined;
  /** Whether callers send tokens, so that some tools can require scopes. */
  readonly isProtected?: boolean;
  /** Connects this node with others. */
  readonly backplane?: Backplane | undefined;
  /** What `ask_twice` counts, by key; nodes of one process can share it. */
  readonly runs?: Map<string, number>;
}

/** The fixture, ready to be served. */
export function createEverythingServer(options: EverythingOptions = {}): McpServer {
  const { mode = "both", httpStats = () => undefined, isProtected = false, runs = new Map() } = options;
  const { backplane } = options;
  const counters = new SessionCounters();
  const server = new McpServer(
    { name: "everything", title: "Everything", version: "1.0.0" },
    {
      mode,
      ...(backplane && { backplane }),
      observe: (event) => {
        if (event.type === "session" && event.state === "ended") counters.forget(event.session);
      },
    },
  );
  // The suite calls the first tool without arguments, so the first tool must need none.
  addSchemaTools(server);
  addContentTools(server);
  addReportingTools(server);
  addAskingTools(server, runs);
  addRoundTools(server);
  addTaskTools(server);
  addChangeTools(server);
  addResources(server);
  addPrompts(server);
  addHandles(server, { counters, httpStats });
  addNotes(server, isProtected);
  return server;
}
