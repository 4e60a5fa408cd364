// Every row, by what it is about.
import type { Row } from "./row.ts";
import { catalogueRows } from "./rows/catalogue.ts";
import { httpRows } from "./rows/http.ts";
import { listeningRows } from "./rows/listening.ts";
import { messageRows } from "./rows/messages.ts";
import { questionRows } from "./rows/questions.ts";
import { stdioRows } from "./rows/stdio.ts";
import { streamRows } from "./rows/streams.ts";
import { taskRows } from "./rows/tasks.ts";

export const table: Readonly<Record<string, readonly Row[]>> = {
  streams: streamRows,
  HTTP: httpRows,
  stdio: stdioRows,
  messages: messageRows,
  questions: questionRows,
  catalogue: catalogueRows,
  tasks: taskRows,
  listening: listeningRows,
};
