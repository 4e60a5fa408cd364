// Fails a test whose clients have heard a message that the official schema of its revision does not allow.
import { afterAll, afterEach } from "vitest";
import { reportClients, watchTestClients } from "./watch-client.ts";
import { reportHttp } from "./watch-http.ts";
import { takeProblems } from "./witness.ts";

watchTestClients();
afterEach(check);
// What a server says when it is closed comes after its test.
afterAll(check);

async function check(): Promise<void> {
  reportClients();
  reportHttp();
  const problems = await takeProblems();
  if (problems.length === 0) return;
  throw new Error(
    `The official schema does not allow ${problems.length} messages:\n${problems.slice(0, 5).join("\n")}`,
  );
}
