// Shows the server's questions to the user: forms, pages to visit, sampling requests, roots.
import type { SampleQuestion } from "halyard/client";
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { Badge } from "../components/badge.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Block } from "./content.tsx";
import { draftOf, readDraft } from "./drafts.ts";
import { formOf } from "./fields.ts";
import { focusProblem } from "./focus.ts";
import { Form } from "./form.tsx";
import { type Question, questions } from "./questions.ts";

/** The oldest question that waits. */
export function QuestionDialog(): VNode | null {
  const waiting = questions.use();
  const question = waiting[0];
  if (!question) return null;
  const more = waiting.length > 1 ? `, and ${waiting.length - 1} more` : "";
  return (
    <Dialog key={question.number} title={`${titles[question.kind]}${more}`} onClose={question.cancel}>
      {question.kind === "form" && <FormBody {...question} />}
      {question.kind === "url" && <UrlBody {...question} />}
      {question.kind === "sample" && <SampleBody {...question} />}
      {question.kind === "roots" && <RootsBody {...question} />}
    </Dialog>
  );
}

const titles: Readonly<Record<Question["kind"], string>> = {
  form: "The server asks",
  url: "The server asks you to visit a page",
  sample: "The server asks your model",
  roots: "The server asks for your roots",
};

type Of<Kind extends Question["kind"]> = Extract<Question, { kind: Kind }>;

/** The body of a question, with the buttons that end it. */
function Body(
  props: Pick<Question, "decline" | "cancel"> & {
    readonly accept: () => void;
    readonly word: string;
    readonly children: ComponentChildren;
  },
): VNode {
  const { accept, word, decline, cancel, children } = props;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    accept();
    focusProblem(event.currentTarget as HTMLFormElement);
  };
  return (
    <form class="question" noValidate onSubmit={submit}>
      {children}
      <div class="actions">
        <button type="submit" class="primary">
          {word}
        </button>
        <button type="button" onClick={decline}>
          Decline
        </button>
        <button type="button" class="quiet" onClick={cancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function FormBody({ question, number, accept, decline, cancel }: Of<"form">): VNode {
  const [form] = useState(() => formOf(question.requestedSchema));
  const [draft, setDraft] = useState(() => draftOf(form));
  const [isChecked, setChecked] = useState(false);
  const { value, problems } = readDraft(form, draft);
  const send = (): void => {
    setChecked(true);
    if (problems.size === 0) accept({ action: "accept", content: (value ?? {}) as Record<string, unknown> });
  };
  return (
    <Body word="Accept" accept={send} decline={decline} cancel={cancel}>
      <p class="asked">{question.message}</p>
      <Form
        id={`question-${number}`}
        field={form}
        draft={draft}
        problems={problems}
        isChecked={isChecked}
        onChange={setDraft}
      />
    </Body>
  );
}

function UrlBody({ question, accept, decline, cancel }: Of<"url">): VNode {
  const { host } = new URL(question.url);
  return (
    <Body word="Accept" accept={() => accept({ action: "accept" })} decline={decline} cancel={cancel}>
      <p class="asked">{question.message}</p>
      <p>
        The page is at <b>{host}</b>. Open it only if you trust it; then accept.
      </p>
      <a class="url" href={question.url} target="_blank" rel="noopener noreferrer">
        {question.url}
      </a>
    </Body>
  );
}

function SampleBody({ question, accept, decline, cancel }: Of<"sample">): VNode {
  const [text, setText] = useState("");
  const send = (): void =>
    accept({ role: "assistant", content: { type: "text", text }, model: "a person at the dashboard" });
  return (
    <Body word="Answer" accept={send} decline={decline} cancel={cancel}>
      <Conversation {...question} />
      <label class="field">
        <span>Answer as the model</span>
        <textarea rows={4} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <p class="hint">At most {question.maxTokens} tokens.</p>
    </Body>
  );
}

function Conversation({ messages, systemPrompt }: SampleQuestion): VNode {
  return (
    <>
      {systemPrompt !== undefined && (
        <div class="message">
          <Badge>system</Badge>
          <Block block={{ type: "text", text: systemPrompt }} />
        </div>
      )}
      {messages.map(({ role, content }, index) => (
        <div class="message" key={index}>
          <Badge tone={role === "assistant" ? "accent" : "plain"}>{role}</Badge>
          {[content].flat().map((block, at) => (
            <Block key={at} block={block} />
          ))}
        </div>
      ))}
    </>
  );
}

/** The last answer: the same roots are requested again and again. */
let lastRoots = "file:///";

function RootsBody({ accept, decline, cancel }: Of<"roots">): VNode {
  const [text, setText] = useState(lastRoots);
  const uris = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const wrong = uris.find((uri) => !uri.startsWith("file://"));
  const send = (): void => {
    if (wrong !== undefined) return;
    lastRoots = text;
    accept(uris.map((uri) => ({ uri })));
  };
  return (
    <Body word="Answer" accept={send} decline={decline} cancel={cancel}>
      <label class="field">
        <span>Folders that the server may work on</span>
        <textarea
          rows={4}
          value={text}
          aria-invalid={wrong !== undefined}
          aria-describedby="roots:problem"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {wrong !== undefined && (
        <p class="problem" id="roots:problem">
          {wrong} does not begin with file://
        </p>
      )}
      <p class="hint">One file:// URI on each line; none if you leave it empty.</p>
    </Body>
  );
}
