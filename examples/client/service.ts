// A service that calls a tool as itself, with client credentials from the environment.
import { connect, HalyardError } from "halyard/client";
import { clientCredentials } from "halyard/client/oauth";

const usage = `Usage: npx tsx examples/client/service.ts URL TOOL
Environment:
  MCP_ISSUER         the authorization server at which the service is registered; the secret is sent to no other one
  MCP_CLIENT_ID      its client id there
  MCP_CLIENT_SECRET  its secret; or
  MCP_PRIVATE_KEY    its private key, as a PEM text (PKCS #8) for ES256`;

/** How the service proves who it is; undefined if the environment does not say. */
function credentials(): Parameters<typeof clientCredentials>[0] | undefined {
  const {
    MCP_ISSUER: issuer,
    MCP_CLIENT_ID: clientId,
    MCP_CLIENT_SECRET: clientSecret,
    MCP_PRIVATE_KEY: pem,
  } = process.env;
  if (!issuer || !clientId) return undefined;
  if (clientSecret) return { issuer, clientId, clientSecret };
  return pem ? { issuer, clientId, privateKey: { pem, alg: "ES256" } } : undefined;
}

/** Returns the exit code. */
async function main([url, tool]: readonly string[]): Promise<number> {
  const given = credentials();
  if (url === undefined || tool === undefined || given === undefined) {
    console.error(usage);
    return 1;
  }
  // One for all clients of the process: it asks for a token when a server wants one, and again when that has expired.
  const auth = clientCredentials(given);
  const client = await connect(url, { auth });
  const { content, isError } = await client.callTool(tool).finally(() => client.close());
  for (const block of content) console.log(block.type === "text" ? block.text : `[${block.type}]`);
  return isError === true ? 2 : 0;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof HalyardError ? error.message : error);
  return 1;
});
