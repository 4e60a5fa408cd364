// Tools that return each kind of content, and one that fails.
import { audio, image, type McpServer, text, ToolError } from "halyard";
import { onePixel, silence } from "./samples.ts";

export function addContentTools(server: McpServer): void {
  server.tool(
    "test_simple_text",
    { description: "Returns a text." },
    () => "This is a simple text response for testing.",
  );

  server.tool("test_image_content", { description: "Returns an image." }, () => image(onePixel, "image/png"));

  server.tool("test_audio_content", { description: "Returns a sound." }, () => audio(silence(), "audio/wav"));

  server.tool("test_embedded_resource", { description: "Returns a resource." }, () => ({
    type: "resource",
    resource: {
      uri: "test://embedded-resource",
      mimeType: "text/plain",
      text: "This is an embedded resource content.",
    },
  }));

  server.tool(
    "test_multiple_content_types",
    { description: "Returns a text, an image and a resource." },
    () => [
      text("Multiple content types test:"),
      image(onePixel, "image/png"),
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  );

  server.tool("test_error_handling", { description: "Always fails." }, () => {
    throw new ToolError("This tool intentionally returns an error for testing");
  });
}
