// Names the questions of one run of a handler, so that a later run finds their answers.
import type { ClientQuestion } from "./question.ts";

export interface Named {
  readonly key: string;
  /** Identifies the question, to check that an answer under this key belongs to it. */
  readonly fingerprint: string;
}

export class QuestionKeys {
  readonly #used = new Set<string>();
  /** Whether an author may use a key for several questions; they get numbers. */
  mayRepeat = false;

  /** Names a question, the same way in every run. Throws if the author has used the key for another question. */
  name(question: ClientQuestion<unknown>, given: string | undefined): Named {
    if (given !== undefined && !this.mayRepeat && this.#used.has(given)) {
      throw new TypeError(`Two questions of one call have the key "${given}": use different keys`);
    }
    const fingerprint = fingerprintOf(question);
    const wanted = given ?? fingerprint;
    let key = wanted;
    for (let count = 2; this.#used.has(key); count++) key = `${wanted}-${count}`;
    this.#used.add(key);
    return { key, fingerprint };
  }

  /** Starts another run of the same handler, which asks the same questions again. */
  startOver(): void {
    this.#used.clear();
  }
}

/**
 * Identifies a question by FNV-1a in two lanes. It need not resist attacks: only the client that answers could make two
 * questions collide. A random `elicitationId` is left out, since it differs in every run.
 */
function fingerprintOf({ method, params }: ClientQuestion<unknown>): string {
  const text = JSON.stringify([method, params && { ...params, elicitationId: undefined }]);
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code ^ (one >>> 15), 0x85ebca6b);
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36);
}
