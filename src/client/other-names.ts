// The names that other packages use for what a client does, and what replaces them here.
import { refuseNames, refuseOn, refuseUnawaited, type RefusedNames } from "../refused-names.ts";

const otherNames: RefusedNames = {
  subject: "McpClient",
  methods: {
    connect: "connect(target), which makes the client",
    setRequestHandler: "onElicit, onSample, roots or onRequest of connect()",
    setNotificationHandler: "client.listen(filter, onChange), or onLog or onNotification of connect()",
    "subscribeResource unsubscribeResource subscribe unsubscribe":
      "client.listen({ resources: [uri] }, onChange)",
    call: "client.callTool(name, args)",
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

export function refuseOtherNames(prototype: object): void {
  refuseNames(prototype, otherNames);
}

/** The same for several clients, whose `tools` is a method. */
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
    // Whoever awaits the clients reads `then`.
    if (server !== "then" && !server.includes(" "))
      refuseOn(clients, "McpClients", { [server]: `client(${JSON.stringify(server)})` });
  }
}

/** Refuses the members of a client on the promise of one. */
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

/** Refuses a client that the user makes as that of another package. */
export function checkMade(connection: unknown): void {
  if (connection !== undefined) return;
  throw new TypeError("McpClient is made by connect(): const client = await connect(target)");
}
