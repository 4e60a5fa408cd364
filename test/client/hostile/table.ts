// Every row, by what it is about.
import type { Row } from "./row.ts";
import { catalogueRows } from "./rows/catalogue.ts";
import { messageRows } from "./rows/messages.ts";
import { questionRows } from "./rows/questions.ts";
import { streamRows } from "./rows/streams.ts";

export const table: Readonly<Record<string, readonly Row[]>> = {
  streams: streamRows,
  messages: messageRows,
  questions: questionRows,
  catalogue: catalogueRows,
};
