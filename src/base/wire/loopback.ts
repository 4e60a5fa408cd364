// Which URLs stay on this machine.

/** Whether a URL names this machine: an address of 127.0.0.0/8, [::1] or `localhost`. */
export function isLoopback(url: URL): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
}

/** Whether an address, or a host name without a port, belongs to this machine. */
export function isLoopbackAddress(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127(?:\.\d{1,3}){3}$/.test(address);
}
