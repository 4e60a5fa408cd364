// Every row, by what it is about.
import type { Row } from "./row.ts";
import { streamRows } from "./rows/streams.ts";

export const table: Readonly<Record<string, readonly Row[]>> = {
  streams: streamRows,
};
