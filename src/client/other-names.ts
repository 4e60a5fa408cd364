// The names that other packages use for what a client does, and what replaces them here.
import { refuseNames, type RefusedNames } from "../refused-names.ts";

const otherNames: RefusedNames = {
  subject: "McpClient",
  methods: {
    connect: "connect(target), which makes the client",
    setRequestHandler: "onElicit, onSample, roots or onRequest of connect()",
    setNotificationHandler: "client.listen(filter, onChange), or onLog or onNotification of connect()",
    "subscribeResource unsubscribeResource": "client.listen({ resources: [uri] }, onChange)",
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

/** Refuses a client that the user makes as that of another package. */
export function checkMade(connection: unknown): void {
  if (connection !== undefined) return;
  throw new TypeError("McpClient is made by connect(): const client = await connect(target)");
}
