// Chooses the revision and the credentials, connects and disconnects, and says what the client is doing.
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAbout } from "../base/about.ts";
import { close, connection, describe, open } from "./connection.ts";
import { TroubleView } from "./trouble-view.tsx";

/** Whether this page has connected once. After that, only the user connects. */
let hasBegun = false;

export function ConnectionBar({ endpoint }: { readonly endpoint: string }): VNode {
  const { revisions } = useAbout();
  const now = connection.use();
  const wanted = now.phase === "none" ? undefined : now.wanted;
  const [revision, setRevision] = useState(wanted?.revision ?? revisions[0] ?? "auto");
  const [token, setToken] = useState(wanted?.token ?? "");
  const isOn = now.phase !== "none";
  const begin = (chosen: string): void => {
    hasBegun = true;
    void open({ endpoint, revision: chosen, token });
  };
  useEffect(() => {
    if (!hasBegun) begin(revision);
  }, []);
  const choose = (chosen: string): void => {
    setRevision(chosen);
    if (isOn || !hasBegun) begin(chosen);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isOn) close();
    else begin(revision);
  };
  return (
    <>
      <form class={isOn ? "connection is-on" : "connection"} aria-label="Connection" onSubmit={submit}>
        <label>
          <span class="muted">Revision</span>
          <select value={revision} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {revisions.map((date) => (
              <option key={date}>{date}</option>
            ))}
          </select>
        </label>
        <label class="credentials">
          <span class="muted">Token</span>
          <input
            type="password"
            autocomplete="off"
            placeholder="If the endpoint needs one"
            aria-label="Bearer token of the endpoint"
            value={token}
            disabled={isOn}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <button type="submit" class={isOn ? "" : "primary"}>
          {isOn ? "Disconnect" : "Connect"}
        </button>
        <p class={`link-state ${toneOf(now)}`} role="status" title={endpoint}>
          {describe(now)}
        </p>
      </form>
      {now.phase === "none" && now.trouble && <TroubleView trouble={now.trouble} />}
    </>
  );
}

function toneOf(now: ReturnType<typeof connection.get>): string {
  if (now.phase === "connecting") return "waits";
  if (now.phase === "none") return now.trouble ? "failed" : "off";
  return {
    ready: "on",
    closed: "failed",
    connecting: "waits",
    reconnecting: "waits",
    "needs-auth": "failed",
  }[now.state.name];
}
