// Serves the notebook to the client that starts this process.
import { serveStdio } from "halyard/stdio";
import { createDemoServer } from "./server.ts";

await serveStdio(createDemoServer());
