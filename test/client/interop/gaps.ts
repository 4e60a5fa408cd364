// Why a server cannot do a step, and how a test sees that it still cannot.
import type { CallOptions } from "halyard/client";
import { expect } from "vitest";
import type { Talk } from "./steps.ts";

export interface Gap {
  readonly because: string;
  /** Fails once the server can do it, so that the table stays true. */
  prove(talk: Talk): Promise<void>;
}

/** The server does not declare a capability, given as a path such as `resources.subscribe`. */
export function undeclared(capability: string, because: string): Gap {
  return {
    because,
    async prove({ client }) {
      expect(client.capabilities).not.toHaveProperty(capability);
    },
  };
}

/** The server has no tool for the step. */
export function noTool(tool: string, because: string): Gap {
  return {
    because,
    async prove({ client }) {
      expect((await client.listTools()).map(({ name }) => name)).not.toContain(tool);
    },
  };
}

/** The server sends its lists whole. */
export const onePage: Gap = {
  because: "its lists have one page, and its users cannot change that",
  async prove({ client, lines }) {
    const before = lines.length;
    await client.listTools({ fresh: true });
    const listed = lines.slice(before).filter(({ message }) => {
      return (message as { readonly method?: string }).method === "tools/list";
    });
    expect(listed).toHaveLength(1);
  },
};

/** How a call ends: with its text, or with an error. */
async function outcomeOf({ client }: Talk, tool: string, options?: CallOptions): Promise<string> {
  return client.callTool(tool, undefined, options).then(
    ({ content, isError }) => `${isError ? "Error: " : ""}${JSON.stringify(content)}`,
    (error: unknown) => String(error),
  );
}

/** The call ends like this. */
export function ending(tool: string, outcome: RegExp, because: string): Gap {
  return {
    because,
    async prove(talk) {
      expect(await outcomeOf(talk, tool)).toMatch(outcome);
    },
  };
}

/** The call gets no response, since the server never hears the answer to its question. */
export function unanswered(tool: string, because: string): Gap {
  return {
    because,
    async prove(talk) {
      expect(await outcomeOf(talk, tool, { timeoutMs: 100 })).toContain("no response after 100 ms");
    },
  };
}

/** Neither progress nor log messages arrive before the result. */
export function unreported(tool: "steps" | "log", because: string): Gap {
  return {
    because,
    async prove(talk) {
      let reports = 0;
      const logged = talk.logs.length;
      await outcomeOf(talk, tool, { onProgress: () => reports++ });
      expect(reports + talk.logs.length - logged).toBe(0);
    },
  };
}

/** The result of `add` is text alone. */
export function unstructured(because: string): Gap {
  return {
    because,
    async prove({ client }) {
      const { content, structuredContent } = await client.callTool("add", { a: 1, b: 2 });
      expect(content).toEqual([expect.objectContaining({ type: "text" })]);
      expect(structuredContent).toBeUndefined();
    },
  };
}

/** Cancelling ends the call here, and not at the server. */
export function runsOn(because: string): Gap {
  return {
    because,
    async prove(talk) {
      const before = await outcomeOf(talk, "waits");
      const cancelled = talk.client.callTool("wait", undefined, { signal: AbortSignal.timeout(50) });
      await expect(cancelled).rejects.toMatchObject({ name: "TimeoutError" });
      expect((await outcomeOf(talk, "waits")).replace(/.*started/u, "")).toBe(
        before.replace(/.*started/u, ""),
      );
    },
  };
}

/** The server opens no stream for messages outside calls. */
export function noStream(because: string): Gap {
  return {
    because,
    async prove({ events }) {
      const opened = events.filter((event) => event.type === "stream" && event.state !== "given-up");
      expect(opened).toEqual([]);
    },
  };
}
