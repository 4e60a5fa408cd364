// The pages of the authorization server that a person sees: plain forms, which work without scripts.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";

/** Shows the page that the authorization server asks for, or takes the form that it sends back. */
export async function answerInteraction(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  const { prompt, params, uid } = details;
  if (request.method !== "POST") {
    const action = `/interaction/${uid}`;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    return void response.end(prompt.name === "login" ? loginPage(action) : consentPage(action, params));
  }
  const form = new URLSearchParams(await readText(request));
  if (form.get("answer") === "deny") {
    const refusal = { error: "access_denied", error_description: "The person said no" };
    return provider.interactionFinished(request, response, refusal);
  }
  if (prompt.name === "login")
    return provider.interactionFinished(request, response, {
      login: { accountId: form.get("user") ?? "alice" },
    });
  const grant = new provider.Grant({
    clientId: String(params["client_id"]),
    accountId: details.session?.accountId ?? "",
  });
  grantAll(grant, params);
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** Grants what the client asks for. */
export function grantAll(
  grant: InstanceType<Provider["Grant"]>,
  params: Readonly<Record<string, unknown>>,
): void {
  const scope = String(params["scope"] ?? "");
  grant.addOIDCScope(`openid offline_access ${scope}`);
  for (const resource of [params["resource"]].flat()) {
    if (typeof resource === "string") grant.addResourceScope(resource, scope);
  }
}

function loginPage(action: string): string {
  return page(
    "Sign in",
    `<form method="post" action="${action}">
<label>Name <input name="user" value="alice"></label>
<button id="sign-in" name="answer" value="allow">Sign in</button>
<button id="deny" name="answer" value="deny">Cancel</button>
</form>`,
  );
}

function consentPage(action: string, params: Readonly<Record<string, unknown>>): string {
  const asks = `${String(params["client_id"])} asks for ${String(params["scope"] ?? "no scope")}`;
  return page(
    "Allow access",
    `<p id="asks">${escape(asks)}</p>
<form method="post" action="${action}">
<button id="allow" name="answer" value="allow">Allow</button>
<button id="deny" name="answer" value="deny">Deny</button>
</form>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${body}</body></html>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
