// The server that asks, on stdio.
import { serveStdio } from "halyard/stdio";
import { createAskingServer } from "../asking-server.ts";

await serveStdio(createAskingServer());
