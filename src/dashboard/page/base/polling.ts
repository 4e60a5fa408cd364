// Repeats a question while the page is visible: one request at a time, none while the tab is hidden.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answers, Ask, FromNodes, NodeRow, Questions } from "../../answers.ts";
import { ask, type AskError } from "./api.ts";
import { storeOf } from "./store.ts";

export interface Polled<Answer> {
  /** The last answer, which is kept while later requests fail; undefined before the first. */
  readonly answer: Answer | undefined;
  /** Why the last request failed; undefined if it did not. */
  readonly error: AskError | undefined;
  /** The answer is to an earlier question, or the last request failed. */
  readonly isStale: boolean;
}

/** Whether the user has paused the page, to read it in peace. */
export const isPaused = storeOf(false);

/** The nodes in the last answer to any question. */
export const seenNodes = storeOf<readonly NodeRow[]>([]);

/** Whether the last request of the page failed, and why. */
export const trouble = storeOf<AskError | undefined>(undefined);

/** The latest answer to a question, asked again every `everyMs`; another question is asked at once. */
export function usePolled<Name extends Ask>(
  name: Name,
  question: Questions[Name],
  everyMs: number,
): Polled<Answers[Name]> {
  const key = JSON.stringify([name, question]);
  const [state, setState] = useState<{ answer?: Answers[Name]; error?: AskError; key?: string }>({});
  const paused = isPaused.use();
  const asked = useRef(question);
  asked.current = question;
  useEffect(() => {
    if (paused && state.key === key) return undefined;
    const abort = new AbortController();
    const poll = async (): Promise<void> => {
      const next = await ask(name, asked.current, abort.signal).then(
        (answer) => ({ answer, key }),
        (error: AskError) => ({ error }),
      );
      if (abort.signal.aborted) return;
      setState((last) => ({
        ...(last.answer && { answer: last.answer }),
        ...(last.key && { key: last.key }),
        ...next,
      }));
      note(next);
    };
    const stop = repeat(poll, everyMs, () => isPaused.get());
    return () => {
      stop();
      abort.abort();
    };
  }, [key, everyMs, paused]);
  return {
    answer: state.answer,
    error: state.error,
    isStale: state.error !== undefined || state.key !== key,
  };
}

/** Stores the parts of every answer that all views show. */
function note({ answer, error }: { answer?: object; error?: AskError }): void {
  trouble.set(error);
  if (answer !== undefined && "nodes" in answer) seenNodes.set((answer as FromNodes).nodes);
}

/**
 * Runs `poll` at once and again after each end, except while the tab is hidden or `isOver` returns true. Returns the function
 * that stops it.
 */
function repeat(poll: () => Promise<void>, everyMs: number, isOver: () => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isStopped = false;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (isRunning || isStopped || document.hidden) return;
    isRunning = true;
    const startedAt = performance.now();
    await poll();
    isRunning = false;
    const tookMs = performance.now() - startedAt;
    // A slow server has at least half of the time for other requests.
    if (!isOver() && !isStopped)
      timer = setTimeout(() => void run(), Math.max(everyMs - tookMs, everyMs / 2));
  };
  const wake = (): void => {
    if (!document.hidden) void run();
  };
  document.addEventListener("visibilitychange", wake);
  void run();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", wake);
  };
}
