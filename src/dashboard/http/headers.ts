// The headers of every response of the dashboard: forbid caching, framing, type sniffing and loading from other origins.
type Headers = Readonly<Record<string, string>>;

const fixed: Headers = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** `endpoint`: the origin of the MCP endpoint, if the page may call it. */
export function safeHeaders(endpoint: string | undefined): Headers {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    endpoint === undefined ? "connect-src 'self'" : `connect-src 'self' ${endpoint}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return { ...fixed, "content-security-policy": policy.join("; ") };
}
