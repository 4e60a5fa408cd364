// A client whose person signs in without a browser, and what such a sign-in comes to.
import { connect, type ConnectOptions, type McpClient } from "halyard/client";
import { oauth, type OAuth, OAuthError, type OAuthOptions } from "halyard/client/oauth";
import { onTestFinished } from "vitest";
import { quick } from "../../../support/http-script.ts";
import type { ProtectedServer } from "../../../support/protected-server.ts";
import { newestModern } from "../../../support/revisions.ts";
import { signInByFetch } from "../../../support/sign-in.ts";

/** A person who agrees to everything at once. */
export function person(options: OAuthOptions = {}): OAuth {
  return oauth({ open: signInByFetch, ...options });
}

/** A client of that server, closed when the test ends. */
export async function open(
  server: ProtectedServer,
  auth: OAuth = person(),
  options: ConnectOptions = {},
): Promise<McpClient> {
  const client = await connect(server.url, { backoff: quick, revision: newestModern, ...options, auth });
  onTestFinished(() => client.close());
  return client;
}

/** The problem and the message of what must fail. */
export async function failure(work: Promise<unknown>): Promise<{ problem: string; message: string }> {
  const reason: unknown = await work.then(
    (value) => new Error(`It resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (!(reason instanceof OAuthError)) throw reason;
  return { problem: reason.problem, message: reason.message };
}
