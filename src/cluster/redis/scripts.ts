// The Lua scripts that Redis runs, each of them atomic, and how to run them.

/** The time of the server, because clocks of nodes may differ. */
const clock = `
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000)
`;

/** Adds a node to the followers of a log, and removes those that have expired. Both keys are those of the log. */
const follow = `
local function follow(followers, node, keepMs)
  redis.call('ZREMRANGEBYSCORE', followers, '-inf', now)
  redis.call('ZADD', followers, now + keepMs, node)
  if redis.call('PTTL', followers) < tonumber(keepMs) then redis.call('PEXPIRE', followers, keepMs) end
end
`;

const sources = {
  /** Replaces a value if it begins with the given version. */
  replace: `
local version, value, ttlMs = ARGV[1], ARGV[2], ARGV[3]
if redis.call('GETRANGE', KEYS[1], 0, #version - 1) ~= version then return 0 end
if ttlMs == '' then redis.call('SET', KEYS[1], value) else redis.call('SET', KEYS[1], value, 'PX', ttlMs) end
return 1
`,

  /** Stores the names of values with their expiry times, and returns how many there are. */
  index: `${clock}
local flag, ttlMs = ARGV[1], ARGV[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for i = 3, #ARGV do
  redis.call('ZADD', KEYS[1], flag, ttlMs == '' and '+inf' or now + ttlMs, ARGV[i])
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
if last == 'inf' then redis.call('PERSIST', KEYS[1]) elseif last then redis.call('PEXPIREAT', KEYS[1], last) end
return redis.call('ZCARD', KEYS[1])
`,

  /**
   * Adds an entry to a log, and publishes it to every follower. A log is a list of '<sequence> <previous> <bytes> <text>'; the
   * bytes are those of all texts that the list then has. Numbers are microseconds, so that none is used again when a log is lost
   * or expires. With a third key, that one must exist.
   */
  append: `if KEYS[3] and redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
${clock}${follow}
local text, keepMs, maxEntries, maxBytes = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local node, change, followMs, channel, name = ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local previous, bytes = 0, 0
local last = redis.call('LINDEX', KEYS[1], -1)
if last then
  local sequence, _, kept = last:match('^(%d+) (%d+) (%d+) ')
  previous, bytes = tonumber(sequence), tonumber(kept)
end
local count = redis.call('LLEN', KEYS[1]) + 1
bytes = bytes + #text
while count > maxEntries or (count > 1 and bytes > maxBytes) do
  local dropped = redis.call('LPOP', KEYS[1])
  bytes = bytes - (#dropped - dropped:match('^%d+ %d+ %d+ ()') + 1)
  count = count - 1
end
local sequence = string.format('%.0f', math.max(micros, previous + 1))
local head = sequence .. ' ' .. string.format('%.0f', previous) .. ' '
redis.call('RPUSH', KEYS[1], head .. string.format('%.0f', bytes) .. ' ' .. text)
redis.call('PEXPIRE', KEYS[1], keepMs)
if change == 'start' then follow(KEYS[2], node, followMs) end
for _, follower in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], now, '+inf')) do
  redis.call('PUBLISH', channel .. follower, 'e' .. head .. name .. ' ' .. text)
end
if change == 'stop' then redis.call('ZREM', KEYS[2], node) end
return sequence
`,

  /** The entries of a log from a sequence number on. */
  read: `
local found = {}
for _, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if tonumber(entry:match('^%d+')) >= tonumber(ARGV[1]) then found[#found + 1] = entry end
end
return found
`,

  /** Follows a log, and keeps it for at least as long. */
  follow: `${clock}${follow}
local node, keepMs = ARGV[1], ARGV[2]
follow(KEYS[2], node, keepMs)
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left < tonumber(keepMs) then redis.call('PEXPIRE', KEYS[1], keepMs) end
return 1
`,
};

export type ScriptName = keyof typeof sources;

/** Sends a command to the server that has this key. */
export type ScriptCall = (key: string, command: readonly string[]) => Promise<unknown>;

/** The scripts, by the hashes under which Redis stores them. */
export class Scripts {
  readonly #hashes: ReadonlyMap<string, string>;

  private constructor(hashes: ReadonlyMap<string, string>) {
    this.#hashes = hashes;
  }

  static async hash(): Promise<Scripts> {
    const hashes = Object.entries(sources).map(async ([name, text]) => [name, await hashOf(text)] as const);
    return new Scripts(new Map(await Promise.all(hashes)));
  }

  /** Runs a script by its hash, and sends all of it to a server that does not have it. */
  async run(
    call: ScriptCall,
    name: ScriptName,
    keys: readonly [string, ...string[]],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const rest = [keys.length, ...keys, ...args].map(String);
    try {
      return await call(keys[0], ["EVALSHA", this.#hashes.get(name) ?? "", ...rest]);
    } catch (error) {
      if (!String(error).includes("NOSCRIPT")) throw error;
      return call(keys[0], ["EVAL", sources[name], ...rest]);
    }
  }
}

/** SHA-1 in hexadecimal. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
