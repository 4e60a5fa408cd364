// The page: connects to a server, lists its tools and calls one. If the server requires it, a person signs in in a popup.
import { connect, type JsonObject, type McpClient } from "halyard/client";
import { finishSignIn, oauth } from "halyard/client/oauth";

const auth = oauth({ open: "popup", clientName: "Halyard in a browser" });
let client: McpClient | undefined;

function find<Kind extends HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

function show(id: "state" | "result", text: string): void {
  find(id).textContent = text;
}

/** Runs `work` when the form is submitted: a popup may open only after a click. */
function onSubmit(form: string, work: () => Promise<void>): void {
  find(form).addEventListener("submit", (event) => {
    event.preventDefault();
    work().catch((error: unknown) => show("result", String(error)));
  });
}

async function listTools(): Promise<void> {
  const tools = (await client?.listTools()) ?? [];
  find("tool").replaceChildren(...tools.map(({ name }) => new Option(name)));
}

function start(): void {
  const server = find<HTMLInputElement>("server");
  server.value = new URLSearchParams(location.search).get("server") ?? "";

  onSubmit("connect", async () => {
    await client?.close();
    client = await connect(server.value, { auth });
    show("state", `Connected to ${client.server?.name ?? server.value}, ${client.revision}`);
    client.on("state", ({ name, reason }) => show("state", `${name}: ${reason}`));
    await listTools();
    if (client.capabilities.tools?.listChanged) await client.listen({ tools: true }, listTools);
  });

  onSubmit("call", async () => {
    const args = JSON.parse(find<HTMLInputElement>("arguments").value) as JsonObject;
    const result = await client?.callTool(find<HTMLSelectElement>("tool").value, args, {
      onProgress: ({ progress, total = "?" }) => show("result", `${progress} of ${total}`),
    });
    show(
      "result",
      result?.content.map((block) => ("text" in block ? block.text : block.type)).join("\n") ?? "",
    );
  });
}

// The popup comes back to this page, too: there it hands over what it has got, and closes.
if (!(await finishSignIn())) start();
