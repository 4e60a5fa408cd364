// Prompts: plain, with arguments and their completion, and with content of other kinds.
import { image, type McpServer, text } from "halyard";
import * as z from "zod";
import { onePixel } from "./samples.ts";

export function addPrompts(server: McpServer): void {
  server.prompt(
    "test_simple_prompt",
    { description: "A prompt without arguments" },
    () => "This is a simple prompt for testing.",
  );

  server.prompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt with two arguments",
      arguments: z.object({ arg1: z.string(), arg2: z.string() }),
      complete: {
        arg1: (typed) => ["test", "test-value", "other"].filter((value) => value.startsWith(typed)),
      },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );

  server.prompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt with a resource", arguments: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => [
      {
        role: "user",
        content: {
          type: "resource",
          resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        },
      },
      { role: "user", content: text("Please process the embedded resource above.") },
    ],
  );

  server.prompt("test_prompt_with_image", { description: "A prompt with an image" }, () => [
    { role: "user", content: image(onePixel, "image/png") },
    { role: "user", content: text("Please analyze the image above.") },
  ]);
}
