// The questions of the server that wait for the user, in order of arrival.
import {
  type ElicitAnswer,
  type FormQuestion,
  InputCancelled,
  InputDeclined,
  type QuestionContext,
  type Root,
  type SampleAnswer,
  type SampleQuestion,
  type UrlQuestion,
} from "halyard/client";
import { storeOf } from "../base/store.ts";

/** The kinds of questions: what each asks, and what answers it. */
interface Asked {
  readonly form: { readonly question: FormQuestion; readonly answer: ElicitAnswer };
  readonly url: { readonly question: UrlQuestion; readonly answer: ElicitAnswer };
  readonly sample: { readonly question: SampleQuestion; readonly answer: SampleAnswer };
  readonly roots: { readonly question: undefined; readonly answer: readonly Root[] };
}

export type Question = {
  [Kind in keyof Asked]: {
    readonly kind: Kind;
    readonly number: number;
    readonly question: Asked[Kind]["question"];
    readonly accept: (answer: Asked[Kind]["answer"]) => void;
    /** The user declines. */
    readonly decline: () => void;
    /** The user closes the question. */
    readonly cancel: () => void;
  };
}[keyof Asked];

/** What waits for an answer, oldest first. */
export const questions = storeOf<readonly Question[]>([]);

let count = 0;

/** Shows a question and resolves with its answer. */
function ask<Kind extends keyof Asked>(
  kind: Kind,
  question: Asked[Kind]["question"],
  refused: { readonly decline: () => Asked[Kind]["answer"]; readonly cancel: () => Asked[Kind]["answer"] },
  signal?: AbortSignal,
): Promise<Asked[Kind]["answer"]> {
  count += 1;
  const number = count;
  return new Promise<() => Asked[Kind]["answer"]>((resolve) => {
    const end = (answer: () => Asked[Kind]["answer"]) => (): void => {
      questions.set(questions.get().filter((other) => other.number !== number));
      resolve(answer);
    };
    const cancel = end(refused.cancel);
    const shown = {
      kind,
      number,
      question,
      accept: (answer: Asked[Kind]["answer"]) => end(() => answer)(),
      decline: end(refused.decline),
      cancel,
    };
    signal?.addEventListener("abort", cancel, { once: true });
    questions.set([...questions.get(), shown as Question]);
  }).then((answer) => answer());
}

const elicitRefused = {
  decline: (): ElicitAnswer => ({ action: "decline" }),
  cancel: (): ElicitAnswer => ({ action: "cancel" }),
};

function throwing(what: string): { readonly decline: () => never; readonly cancel: () => never } {
  return {
    decline: () => {
      throw new InputDeclined(what);
    },
    cancel: () => {
      throw new InputCancelled(what);
    },
  };
}

/** The handlers of the client: each shows its question on the page. */
export const handlers = {
  onElicit: {
    form: (question: FormQuestion, { signal }: QuestionContext) =>
      ask("form", question, elicitRefused, signal),
    url: (question: UrlQuestion, { signal }: QuestionContext) => ask("url", question, elicitRefused, signal),
  },
  onSample: (question: SampleQuestion, { signal }: QuestionContext) =>
    ask("sample", question, throwing("sampling"), signal),
  roots: () => ask("roots", undefined, throwing("roots")),
};

/** Cancels all questions, because the client no longer waits for answers. */
export function cancelQuestions(): void {
  for (const { cancel } of questions.get()) cancel();
}
