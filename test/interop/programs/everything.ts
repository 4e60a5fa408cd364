// The conformance fixture on stdio, started as the others are.
import { serveStdio } from "halyard/stdio";
import { createEverythingServer } from "../../../examples/everything/server.ts";

await serveStdio(createEverythingServer());
