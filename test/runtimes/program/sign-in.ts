// A person signs in over the loopback redirect, once: the tokens are kept in a file.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "halyard/client";
import { fileStore, oauth } from "halyard/client/oauth";
import { signInByFetch } from "../../support/sign-in.ts";
import { call } from "./calls.ts";

export async function checkSignIn(url = ""): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), "sign-in-"));
  const path = join(folder, "tokens.json");
  const redirects: string[] = [];
  const open = async (address: string): Promise<void> => {
    redirects.push(new URL(address).searchParams.get("redirect_uri") ?? "");
    await signInByFetch(address);
  };
  const who: string[] = [];
  for (let round = 0; round < 2; round++) {
    const client = await connect(url, { auth: oauth({ open, scopes: ["openid"], store: fileStore(path) }) });
    who.push(await call(client, "whoami"));
    await client.close();
  }
  const { mode } = await stat(path);
  await rm(folder, { recursive: true });
  const redirect = redirects.map((uri) => uri.replace(/:\d+/, ":port"));
  return { who, redirect, mode: (mode & 0o777).toString(8) };
}
