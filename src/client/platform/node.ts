// The platform of Node, Bun and Deno.
import { platform as web } from "./web.ts";
import type { Platform } from "./platform.ts";

export const platform: Platform = web;
