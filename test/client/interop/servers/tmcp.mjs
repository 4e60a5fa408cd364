// A server on tmcp: on stdio, or over HTTP.
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";
import { complete, prompt, resource, tool } from "tmcp/utils";
import * as z from "zod";
import { listenOn } from "./by-session.mjs";
import { pixel, sampling, stylesLike, Waits, welcome } from "./facts.mjs";

const waits = new Waits();
const listChanged = true;

const server = new McpServer(
  { name: "tmcp", version: "1.0.0", description: "Interop" },
  {
    adapter: new ZodJsonSchemaAdapter(),
    instructions: "Greet first",
    pagination: { tools: { size: 4 } },
    capabilities: {
      tools: { listChanged },
      prompts: { listChanged },
      resources: { listChanged, subscribe: true },
      completions: {},
      logging: {},
    },
  },
);

const named = (name, more) => ({ name, description: name, ...more });

server.tool(named("greet", { schema: z.object({ name: z.string() }) }), ({ name }) =>
  tool.text(`Hello, ${name}`),
);
const adding = {
  schema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
};
server.tool(named("add", adding), ({ a, b }) => tool.structured({ sum: a + b }));
server.tool(named("fail"), () => tool.error("It failed"));
server.tool(named("picture"), () => tool.media("image", pixel, "image/png"));
server.tool(named("steps"), () => {
  for (const progress of [1, 2, 3]) server.progress(progress, 3, `Step ${progress}`);
  return tool.text("Done");
});
server.tool(named("log"), () => {
  server.log("warning", "The server logs", "interop");
  return tool.text("Logged");
});
server.tool(named("wait"), () => waits.wait(server.ctx.signal));
server.tool(named("waits"), () => waits.report());

const form = z.object({ name: z.string(), mood: z.string().default("well") });
server.tool(named("ask", { replayable: true }), async () => {
  const { content } = await server.elicitation("Who are you?", form);
  return tool.text(`${content.name} is ${content.mood}`);
});
server.tool(named("sample", { replayable: true }), async () =>
  tool.text((await server.message(sampling)).content.text),
);
server.tool(named("roots"), async () => {
  await server.refreshRoots();
  return tool.text(server.roots.map(({ uri }) => uri).join());
});

let isOffered = false;
server.tool(named("extra", { enabled: () => isOffered }), () => tool.text("Extra"));
server.tool(named("offer"), () => {
  isOffered = !isOffered;
  server.changed("tools");
  return tool.text("Offered");
});
server.tool(named("edit"), () => {
  server.changed("resource", welcome);
  return tool.text("Edited");
});

server.resource(named("welcome", { uri: welcome, mimeType: "text/plain" }), (uri) =>
  resource.text(uri, "Welcome", "text/plain"),
);
server.template(named("note", { uri: "note:///{id}" }), (uri, { id }) => resource.text(uri, `Note ${id}`));
server.prompt(
  named("summarise", {
    schema: z.object({ style: z.string() }),
    complete: { style: (typed) => complete.values(stylesLike(typed)) },
  }),
  ({ style }) => prompt.message(`Summarise, ${style}`),
);

if (process.argv[2] === "stdio") new StdioTransport(server).listen();
else {
  const transport = new HttpTransport(server, { path: "/mcp" });
  listenOn({ "/mcp": (request) => transport.respond(request) });
}
