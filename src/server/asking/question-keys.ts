// Names the questions of one run of a handler, so that a later run finds their answers.
import type { Question } from "./question.ts";

export interface Named {
  readonly key: string;
  /** Tells whether an answer under this key belongs to this question. */
  readonly fingerprint: string;
}

export class QuestionKeys {
  readonly #used = new Set<string>();
  /** Whether an author may give a key to several questions: they are numbered. */
  mayRepeat = false;

  /** The same for the same question in every run. Throws when the author has given its key to another question before. */
  name(question: Question<unknown>, given: string | undefined): Named {
    if (given !== undefined && !this.mayRepeat && this.#used.has(given)) {
      throw new TypeError(`Two questions of one call have the key "${given}"`);
    }
    const fingerprint = fingerprintOf(question);
    const wanted = given ?? fingerprint;
    let key = wanted;
    for (let count = 2; this.#used.has(key); count++) key = `${wanted}-${count}`;
    this.#used.add(key);
    return { key, fingerprint };
  }

  /** Another run of the same handler: it asks the same from the start. */
  startOver(): void {
    this.#used.clear();
  }
}

/**
 * Tells questions apart: FNV-1a in two lanes. It need not withstand anybody, since whoever could make two questions
 * look alike is the one who answers them. A random id does not make it another question.
 */
function fingerprintOf({ method, params }: Question<unknown>): string {
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
