// Tools that change the list of tools, so that subscribed clients are notified.
import type { McpServer } from "halyard";

export function addChangeTools(server: McpServer): void {
  let changes = 0;
  const changing = server.tool(
    "test_changing_tool",
    { description: "Has not changed yet." },
    () => "This tool only changes its description",
  );
  const changingPrompt = server.prompt(
    "test_changing_prompt",
    { description: "Has not changed yet." },
    () => "This prompt only changes its description",
  );

  server.tool("test_trigger_tool_change", { description: "Changes the list of tools." }, () => {
    changing.update({ description: `Has changed ${++changes} times.` });
    return "The list of tools has changed";
  });

  server.tool("test_trigger_prompt_change", { description: "Changes the list of prompts." }, () => {
    changingPrompt.update({ description: `Has changed ${++changes} times.` });
    return "The list of prompts has changed";
  });
}
