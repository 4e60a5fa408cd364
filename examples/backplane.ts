// Connects an example to the engine that its nodes share: Redis or NATS, by a URL.
import type { Backplane } from "halyard";
import type { BackplaneOptions } from "halyard/cluster";

export interface ConnectedBackplane {
  readonly backplane: Backplane;
  /** Closes the connection. Close the server first. */
  close(): Promise<void>;
}

type Connect = (url: URL, options: BackplaneOptions) => Promise<ConnectedBackplane>;

/** How to connect, by the protocol of the URL. Each client is loaded only when it is needed. */
const engines: Readonly<Record<string, Connect>> = {
  "redis:": connectRedis,
  "rediss:": connectRedis,
  "nats:": connectNats,
};

/** Throws an error that says what is wrong with the URL of a backplane. */
export function assertBackplaneUrl(text: string): void {
  const { protocol, hostname } = new URL(URL.canParse(text) ? text : "unknown:");
  if (Object.hasOwn(engines, protocol) && hostname !== "") return;
  throw new Error(`--backplane ${text} is not an engine: use redis://host:port or nats://host:port`);
}

/** Connects to the engine at the URL. Rejects if that cannot be reached. */
export async function connectBackplane(
  text: string,
  options: BackplaneOptions = {},
): Promise<ConnectedBackplane> {
  assertBackplaneUrl(text);
  const url = new URL(text);
  try {
    return await (engines[url.protocol] as Connect)(url, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    throw new Error(`Cannot use the backplane at ${url.protocol}//${url.host}: ${reason}`, { cause: error });
  }
}

async function connectRedis({ href }: URL, options: BackplaneOptions): Promise<ConnectedBackplane> {
  const [{ createClient }, { redisBackplane }] = await Promise.all([
    import("@redis/client"),
    import("halyard/redis"),
  ]);
  // The client retries forever, the first time too, unless it is told when to stop.
  let isConnected = false;
  const reconnectStrategy = (retries: number, cause: Error): number | Error =>
    isConnected ? Math.min(50 * 2 ** retries, 2000) : cause;
  const client = createClient({ url: href, socket: { reconnectStrategy } });
  // Without a listener an error would end the process. The server reports what becomes of its connections.
  client.on("error", () => {});
  await client.connect();
  isConnected = true;
  return { backplane: redisBackplane(client, options), close: async () => client.destroy() };
}

async function connectNats(url: URL, options: BackplaneOptions): Promise<ConnectedBackplane> {
  const [{ connect }, { natsBackplane }] = await Promise.all([
    import("@nats-io/transport-node"),
    import("halyard/nats"),
  ]);
  const { host, username, password } = url;
  const credentials = username && { user: username, pass: password };
  const connection = await connect({ servers: host, maxReconnectAttempts: -1, ...credentials });
  return { backplane: natsBackplane(connection, options), close: () => connection.close() };
}
