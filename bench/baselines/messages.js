// The requests that every contender answers.
export const INFO = { name: "bench", version: "1.0.0" };

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": INFO,
};

export function legacyCall(id, text) {
  const params = { name: "echo", arguments: { text } };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

export function modernCall(id, text) {
  const params = { name: "echo", arguments: { text }, _meta: modernMeta };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

export function modernList(id) {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/list",
    params: { _meta: modernMeta },
  });
}

export function modernListen(id, notifications) {
  const params = { notifications, _meta: modernMeta };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "subscriptions/listen", params });
}

export function initialize(id) {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: INFO };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params });
}

export function initialized() {
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
}
