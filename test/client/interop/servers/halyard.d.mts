// The types of the program beside.
import type { McpServer, ServerOptions } from "halyard";

export function application(): (options?: ServerOptions) => McpServer;
