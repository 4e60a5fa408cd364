// The demo server in pages of two, so that a client has to turn them.
import { serveStdio } from "halyard/stdio";
import { createDemoServer } from "../../../examples/demo/server.ts";

await serveStdio(createDemoServer({ pageSize: 2 }));
