// Shown without a token: how to get one, and a field to paste it.
import type { VNode } from "preact";
import { token } from "./base/token.ts";

export function SignIn(): VNode {
  const signIn = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = String(new FormData(event.currentTarget as HTMLFormElement).get("token")).trim();
    // People paste the whole address, too.
    const pasted = given.replace(/^.*#token=/, "");
    if (pasted !== "") token.set(decodeURIComponent(pasted));
  };
  return (
    <main class="sign-in">
      <form onSubmit={signIn}>
        <h1>This dashboard needs its token</h1>
        <p>
          The server prints an address with a token when it starts: <code>Dashboard: http://…/#token=…</code>.
          Open that address, or paste it or its token here. If you mounted the dashboard yourself, the token
          is the one that you passed to <code>dashboard({"{ token }"})</code>.
        </p>
        <label>
          Token
          <input name="token" type="password" autocomplete="off" required autofocus />
        </label>
        <button type="submit" class="primary">
          Open the dashboard
        </button>
      </form>
    </main>
  );
}
