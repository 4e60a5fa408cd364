// Halyard serving one Zod echo tool on stdio.
import { serveStdio } from "halyard/stdio";
import { halyardServer } from "./halyard.js";

await serveStdio(halyardServer({ schema: "zod", fillers: 0 }));
