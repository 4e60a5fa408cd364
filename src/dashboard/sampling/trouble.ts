// How often the streams of each session were resumed, and how often messages may have been lost.
import { Newest } from "./newest.ts";

const maxSessions = 2000;

export interface Trouble {
  readonly resumes: number;
  readonly gaps: number;
}

const none: Trouble = { resumes: 0, gaps: 0 };

export class Troubles {
  readonly #sessions = new Newest<string, Trouble>(maxSessions);

  of(session: string | undefined): Trouble {
    return (session !== undefined && this.#sessions.get(session)) || none;
  }

  add(session: string | undefined, what: keyof Trouble): void {
    if (session === undefined) return;
    const before = this.of(session);
    this.#sessions.set(session, { ...before, [what]: before[what] + 1 });
  }
}
