// The hand-written stdio server with its schema in Zod, which the servers it is compared with load too.
import * as z from "zod";
import "./stdio.js";

export const input = z.object({ text: z.string() });
