// Has every test client heard by a witness, whatever its wire is.
import { TestClient } from "halyard/testing";
import { Conversation } from "./witness.ts";

interface Watched {
  readonly conversation: Conversation;
  checked: number;
}

const watched = new Map<TestClient, Watched>();

/** From now on: a client says something before it hears anything. */
export function watchTestClients(): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its client
  const { sendText } = TestClient.prototype;
  TestClient.prototype.sendText = function (this: TestClient, text: string): void {
    const known = watched.get(this) ?? { conversation: new Conversation(this.revision), checked: 0 };
    watched.set(this, known);
    known.conversation.said(text);
    sendText.call(this, text);
  };
}

/** Tells what the clients have heard since the last time. */
export function reportClients(): void {
  for (const [client, known] of watched) {
    for (const message of client.received.slice(known.checked)) known.conversation.heardMessage(message);
    known.checked = client.received.length;
  }
}
