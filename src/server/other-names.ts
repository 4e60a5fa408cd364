// The names that other packages use for what a server does, and what replaces them here.
import { defineReplaceable, refuseNames, type RefusedNames } from "../base/refused-names.ts";

const lists = "nothing: clients are notified of every change";

const otherNames: RefusedNames = {
  subject: "McpServer",
  methods: {
    "registerTool addTool addTools": "server.tool(name, { description, input }, handler)",
    "registerPrompt addPrompt addPrompts": "server.prompt(name, { description, arguments }, handler)",
    "registerResource addResource addResources":
      "server.resource(uri, { name }, handler), or server.resourceTemplate() for a URI with variables",
    "addResourceTemplate addResourceTemplates": "server.resourceTemplate(uriTemplate, { name }, handler)",
    "removeTool removeTools": "server.tools.remove(name)",
    "removePrompt removePrompts": "server.prompts.remove(name)",
    "removeResource removeResources": "server.resources.remove(uri)",
    "removeResourceTemplate removeResourceTemplates": "server.resourceTemplates.remove(uriTemplate)",
    "connect start listen run serve getApp":
      "serveStdio(server) of halyard/stdio, or serveHttp(server, { port }) of halyard/node",
    "close stop": "close() of what serveStdio() or serveHttp() returned",
    "setRequestHandler removeRequestHandler":
      "server.tool(), .resource() and .prompt(), or server.method() for a method of your own",
    "setNotificationHandler removeNotificationHandler": "server.onNotification(handler)",
    registerCapabilities: "new McpServer(info, { capabilities })",
    getCapabilities: "server.capabilities()",
    getClientCapabilities: "ctx.clientCapabilities in a handler",
    getClientVersion: "ctx.client in a handler",
    getNegotiatedProtocolVersion: "ctx.revision in a handler",
    isConnected: "server.push.sessions()",
    "createMessage sample": "ctx.sample(messages) in a handler",
    "elicitInput elicit": "ctx.elicit(message, schema) in a handler",
    createElicitationCompletionNotifier: "server.push.elicitationComplete(id)",
    listRoots: "ctx.roots() in a handler",
    ping: "server.push.ping(session)",
    sendLoggingMessage: "server.log(level, data), or ctx.log(level, data) in a handler",
    sendResourceUpdated: "server.resources.updated(uri)",
    sendResourceListChanged: `${lists}, except for the list of a template: server.resources.listChanged()`,
    "sendToolListChanged sendPromptListChanged": lists,
    "notification notify":
      "server.push.broadcast(method, params), or ctx.notify(method, params) in a handler",
    request: "server.push.request(session, method, params), or ctx.ask(method, params) in a handler",
    on: "server.onInitialized(handler) or server.onSessionClosed(handler)",
    embedded: '{ type: "resource", resource: { uri, text } }',
  },
  read: {
    sessions: "server.push.sessions(), or ctx.session in a handler",
    experimental: '{ task: "optional" } in server.tool()',
  },
  set: {
    onclose: "server.onSessionClosed(handler)",
    onerror: "new McpServer(info, { logger, observe })",
    oninitialized: "server.onInitialized(handler)",
    fallbackRequestHandler: "server.method(name, { params }, handler)",
    fallbackNotificationHandler: "server.onNotification(handler)",
  },
};

/**
 * `server.server` is the server itself, so that calling a method of the official `Server` on it throws an error that names the
 * replacement.
 */
export function refuseOtherServerNames(prototype: object): void {
  const names = refuseNames(prototype, otherNames);
  defineReplaceable(names, "server", function () {
    return this;
  });
}
