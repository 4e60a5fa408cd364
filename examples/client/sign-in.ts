// A command line that signs a person in: keeps the tokens in a file, lists the tools of a server, and can sign out again.
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connect, HalyardError } from "halyard/client";
import { fileStore, oauth, OAuthError } from "halyard/client/oauth";

const usage = `Usage: npx tsx examples/client/sign-in.ts URL
Options:
  --browser      opens the address in your browser, instead of only printing it
  --tokens FILE  where tokens are kept (default: ~/.config/halyard-example/tokens.json)
  --sign-out     forgets the tokens for this server`;

const options = {
  browser: { type: "boolean", default: false },
  tokens: { type: "string", default: join(homedir(), ".config", "halyard-example", "tokens.json") },
  "sign-out": { type: "boolean", default: false },
} as const;

/** Returns the exit code. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [url] = positionals;
  if (url === undefined || !URL.canParse(url)) {
    console.error(usage);
    return 1;
  }
  const auth = oauth({
    clientName: "Halyard example",
    // Whoever runs this again, even in another terminal at the same time, shares these tokens.
    store: fileStore(values.tokens),
    ...(values.browser && { open: "browser" }),
  });
  if (values["sign-out"]) {
    await auth.signOut(url);
    console.error(`Signed out of ${url}`);
    return 0;
  }
  const client = await connect(url, { auth });
  const tools = await client.listTools().finally(() => client.close());
  for (const { name, description = "" } of tools)
    console.log(description === "" ? name : `${name}: ${description.split("\n", 1)[0]}`);
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  if (error instanceof OAuthError) console.error(`Not signed in (${error.problem}): ${error.message}`);
  else if (error instanceof HalyardError) console.error(error.message);
  else console.error(error);
  return 1;
});
