// The names that other packages use for what a server does: calling one throws, and the message says what to use instead.

/** The definitions of a server: as other packages name them, how to register one here, and where they are. */
const definitions = [
  ["Tool", "tool(name, { description, input }, handler)", "tools"],
  ["Prompt", "prompt(name, { description, arguments }, handler)", "prompts"],
  [
    "Resource",
    "resource(uri, { name }, handler), or server.resourceTemplate() for a URI with variables",
    "resources",
  ],
  ["ResourceTemplate", "resourceTemplate(uriTemplate, { name }, handler)", "resourceTemplates"],
] as const;

const lists = "nothing: clients are notified of every change";

/** Methods of other packages, separated by spaces, and what to use here. */
const methods: Readonly<Record<string, string>> = {
  "connect start listen run serve getApp":
    "serveStdio(server) of halyard/stdio, or serveHttp(server, { port }) of halyard/node",
  "close stop": "close() of what serveStdio() or serveHttp() returned",
  "setRequestHandler removeRequestHandler":
    "server.tool(), .resource() and .prompt(), or server.method() for a method of your own",
  "setNotificationHandler removeNotificationHandler": "server.onNotification(handler)",
  registerCapabilities: "new McpServer(info, { capabilities })",
  getCapabilities: "server.capabilities()",
  getClientCapabilities: "ctx.clientCapabilities",
  getClientVersion: "ctx.client",
  getNegotiatedProtocolVersion: "ctx.revision",
  isConnected: "server.push.sessions()",
  createMessage: "ctx.sample(messages)",
  elicitInput: "ctx.elicit(message, schema)",
  createElicitationCompletionNotifier: "server.push.elicitationComplete(id)",
  listRoots: "ctx.roots()",
  ping: "server.push.ping(session)",
  sendLoggingMessage: "server.log(level, data), or ctx.log(level, data)",
  sendResourceUpdated: "server.resources.updated(uri)",
  sendResourceListChanged: `${lists}, except for the list of a template: server.resources.listChanged()`,
  "sendToolListChanged sendPromptListChanged": lists,
  notification: "server.push.broadcast(method, params), or ctx.notify(method, params)",
  request: "server.push.request(session, method, params), or ctx.ask(method, params)",
  on: "server.onInitialized(handler) or server.onSessionClosed(handler)",
  embedded: '{ type: "resource", resource: { uri, text } }',
};

/** Properties that other packages have their users read. */
const read: Readonly<Record<string, string>> = {
  sessions: "server.push.sessions(), or ctx.session",
  experimental: '{ task: "optional" } in server.tool()',
};

/** Properties that other packages have their users set. */
const set: Readonly<Record<string, string>> = {
  onclose: "server.onSessionClosed(handler)",
  onerror: "new McpServer(info, { logger, observe })",
  oninitialized: "server.onInitialized(handler)",
  fallbackRequestHandler: "server.method(name, { params }, handler)",
  fallbackNotificationHandler: "server.onNotification(handler)",
};

function refuse(name: string, remedy: string): never {
  const where = remedy.includes("ctx.") ? " in a handler" : "";
  throw new TypeError(`McpServer has no ${name}: use ${remedy}${where}`);
}

/** A property that subclasses may set. */
function replaceable(name: string, get: (this: object) => unknown): PropertyDescriptor {
  return {
    get,
    set(this: object, value) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
    },
  };
}

/**
 * Puts an object with the names behind the prototype of the server: not enumerable, unknown to the compiler, and free for
 * subclasses to use. `server.server` is the server itself, so that a call of its methods finds its message.
 */
export function refuseOtherNames(prototype: object): void {
  const names = {};
  const define = (name: string, descriptor: PropertyDescriptor): unknown =>
    Object.defineProperty(names, name, descriptor);
  const method = (name: string, remedy: string): unknown =>
    define(name, { value: () => refuse(`${name}()`, remedy), writable: true });
  for (const [kind, usage, list] of definitions) {
    for (const name of [`register${kind}`, `add${kind}`, `add${kind}s`]) method(name, `server.${usage}`);
    for (const name of [`remove${kind}`, `remove${kind}s`]) method(name, `server.${list}.remove(key)`);
  }
  for (const [some, remedy] of Object.entries(methods))
    for (const name of some.split(" ")) method(name, remedy);
  for (const [name, remedy] of Object.entries(read))
    define(
      name,
      replaceable(name, () => refuse(name, remedy)),
    );
  for (const [name, remedy] of Object.entries(set)) define(name, { set: () => refuse(name, remedy) });
  define(
    "server",
    replaceable("server", function () {
      return this;
    }),
  );
  Object.setPrototypeOf(prototype, names);
}
