// What the steps call, and what they expect: of the servers in `servers/`, and of the published server with every feature.

interface Call {
  readonly tool: string;
  readonly args?: Record<string, unknown>;
}

/** A call, and a part of the text that it returns. */
interface Spoken extends Call {
  readonly text: string;
}

/** The words of one server. */
export interface Script {
  readonly offers: { readonly [list in "tools" | "resources" | "templates" | "prompts"]: string };
  /** The list that has several pages. */
  readonly paged: "tools/list" | "resources/list";
  readonly text: Spoken;
  readonly structured: Call & { readonly content: Record<string, unknown> };
  readonly failing: Spoken;
  readonly image: Call;
  readonly progress: Call & { readonly last: { readonly progress: number; readonly total: number } };
  readonly log: Spoken;
  readonly resource: { readonly uri: string; readonly text: string };
  readonly fromTemplate: { readonly uri: string; readonly text: string };
  readonly prompt: {
    readonly name: string;
    readonly args: Record<string, string>;
    readonly text: string;
  };
  readonly completion: {
    readonly prompt: string;
    readonly argument: string;
    readonly typed: string;
    readonly values: readonly string[];
  };
  readonly toolsChange: Call;
  readonly resourceChange: Call;
  readonly elicit: Spoken;
  readonly sample: Spoken;
  readonly roots: Spoken;
  readonly task: Spoken;
}

export const ourScript: Script = {
  offers: { tools: "greet", resources: "note:///welcome", templates: "note:///{id}", prompts: "summarise" },
  paged: "tools/list",
  text: { tool: "greet", args: { name: "Ada" }, text: "Hello, Ada" },
  structured: { tool: "add", args: { a: 1, b: 2 }, content: { sum: 3 } },
  failing: { tool: "fail", text: "It failed" },
  image: { tool: "picture" },
  progress: { tool: "steps", last: { progress: 3, total: 3 } },
  log: { tool: "log", text: "The server logs" },
  resource: { uri: "note:///welcome", text: "Welcome" },
  fromTemplate: { uri: "note:///second", text: "Note second" },
  prompt: { name: "summarise", args: { style: "formal" }, text: "Summarise, formal" },
  completion: { prompt: "summarise", argument: "style", typed: "f", values: ["formal", "friendly"] },
  toolsChange: { tool: "offer" },
  resourceChange: { tool: "edit" },
  elicit: { tool: "ask", text: "Ada is well" },
  sample: { tool: "sample", text: "shoe" },
  roots: { tool: "roots", text: "file:///work" },
  task: { tool: "job", text: "The job is done" },
};

/** The same, with several pages of resources instead of tools. */
export const pagedResources: Script = { ...ourScript, paged: "resources/list" };

const tutorial = "demo://resource/static/document/features.md";

export const everythingScript: Script = {
  ...ourScript,
  offers: {
    tools: "echo",
    resources: tutorial,
    templates: "demo://resource/dynamic/text/{resourceId}",
    prompts: "args-prompt",
  },
  text: { tool: "echo", args: { message: "Ada" }, text: "Echo: Ada" },
  structured: {
    tool: "get-structured-content",
    args: { location: "Chicago" },
    content: { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 },
  },
  failing: { tool: "echo", args: { message: 1 }, text: "Invalid arguments" },
  image: { tool: "get-tiny-image" },
  progress: {
    tool: "trigger-long-running-operation",
    args: { duration: 0.1, steps: 2 },
    last: { progress: 2, total: 2 },
  },
  log: { tool: "toggle-simulated-logging", text: "level" },
  resource: { uri: tutorial, text: "Everything Server" },
  fromTemplate: { uri: "demo://resource/dynamic/text/1", text: "Resource 1" },
  prompt: { name: "args-prompt", args: { city: "Oslo" }, text: "Oslo" },
  completion: {
    prompt: "completable-prompt",
    argument: "department",
    typed: "S",
    values: ["Sales", "Support"],
  },
  resourceChange: { tool: "toggle-subscriber-updates" },
  elicit: { tool: "trigger-elicitation-request", text: "- Name: Ada" },
  sample: { tool: "trigger-sampling-request", args: { prompt: "Rhyme" }, text: "shoe" },
  roots: { tool: "get-roots-list", text: "file:///work" },
  task: { tool: "simulate-research-query", args: { topic: "rain" }, text: "Research Report: rain" },
};
