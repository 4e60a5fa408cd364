// All rows of a kind on this node, pulled page by page.
import type { ServerWindow, Views } from "../../window/index.ts";

const limit = 1000;

export function* everyRow<Kind extends keyof Views>(window: ServerWindow, kind: Kind): Iterable<Views[Kind]> {
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const page: ReturnType<typeof window.snapshot<Kind>> = window.snapshot(kind, { offset, limit });
    yield* page.rows;
    offset = page.next;
  }
}
