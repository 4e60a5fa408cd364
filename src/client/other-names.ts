// The names that other packages use for what a client does, and what replaces them here.
import { refuseNames, refuseOn, refuseUnawaited, type RefusedNames } from "../base/refused-names.ts";

const otherNames: RefusedNames = {
  subject: "McpClient",
  methods: {
    connect: "connect(target), which makes the client",
    setRequestHandler: "onElicit, onSample, roots or onRequest of connect()",
    setNotificationHandler: "client.listen(filter, onChange), or onLog or onNotification of connect()",
    "subscribeResource unsubscribeResource subscribe unsubscribe":
      "client.listen({ resources: [uri] }, onChange)",
    call: "client.callTool(name, args)",
    "getTask resumeTask": "client.task(stored)",
    "tools getTools": "client.listTools()",
    "disconnect end stop": "client.close()",
    "once off addListener addEventListener": 'client.on("state", callback), which returns what removes it',
    getServerVersion: "client.server",
    getServerCapabilities: "client.capabilities",
    getInstructions: "client.instructions",
    setLoggingLevel: "client.setLogLevel(level)",
    sendRootsListChanged: "client.rootsChanged()",
    notification: "client.notify(method, params)",
  },
  set: {
    onclose: 'client.on("state", callback)',
    onerror: "observe of connect()",
  },
};

export function refuseOtherClientNames(prototype: object): void {
  refuseNames(prototype, otherNames);
}

/** Refuses the names of other packages on the clients of several servers, whose `tools` is a method. */
export function refuseNamesOfSeveral(prototype: { readonly tools: object }): void {
  refuseNames(prototype, {
    subject: "McpClients",
    methods: {
      get: "client(name)",
      "listTools getTools": "tools()",
      "readResource listResources getPrompt listPrompts request": "client(name), and this method of it",
    },
    read: { "clients servers": "client(name), or outcomes for all" },
  });
  const methods = { "map filter find forEach": "(await servers.tools()).tools" };
  refuseNames(prototype.tools, { subject: "tools", methods });
}

/** Refuses to read a client as a property, by the name of its server. */
export function refuseServerNames(clients: object, servers: Iterable<string>): void {
  for (const server of servers) {
    // `await` reads the property `then`.
    if (server !== "then" && !server.includes(" "))
      refuseOn(clients, "McpClients", { [server]: `client(${JSON.stringify(server)})` });
  }
}

/** Refuses to read outcomes, which are a map, as properties by the name of a server. */
export function refuseNamesOfOutcomes(outcomes: object, servers: Iterable<string>): void {
  for (const server of servers)
    if (!server.includes(" "))
      refuseOn(outcomes, "outcomes", { [server]: `outcomes.get(${JSON.stringify(server)})` });
}

/**
 * Refuses to read `text` on a result: the text is in the blocks. A result that asks for input has none. The content stays as it is,
 * because Bun prints what an array refuses.
 */
export function refuseText<Result extends { readonly content?: object }>(result: Result): Result {
  if (result.content === undefined) return result;
  return refuseOn(result, "The result of a tool", { text: "content[0].text, for a block of the type text" });
}

/** Throws for reading members of the client on its promise, before it is awaited. */
export function awaitedFirst<Client extends object>(
  promise: Promise<Client>,
  call: string,
  { prototype }: { readonly prototype: object },
): Promise<Client> {
  const members: string[] = [];
  for (let each = prototype; each !== Object.prototype; each = Object.getPrototypeOf(each) as object)
    members.push(...Object.getOwnPropertyNames(each));
  return refuseUnawaited(promise, call, members);
}

/** Throws if the user calls the constructor, as with clients of other packages. */
export function checkMade(connection: unknown): void {
  if (connection !== undefined) return;
  throw new TypeError("McpClient is made by connect(): const client = await connect(target)");
}
