// Shown without a token: how to get one, and a field to paste it.
import type { VNode } from "preact";
import { trouble } from "./base/polling.ts";
import { token, tokenIn } from "./base/token.ts";

export function SignIn(): VNode {
  const refusal = trouble.use();
  const signIn = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = tokenIn(String(new FormData(event.currentTarget as HTMLFormElement).get("token")));
    trouble.set(undefined);
    if (given !== "") token.set(given);
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
        {refusal && (
          <p class="bad" role="alert">
            {refusal.message}
          </p>
        )}
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
