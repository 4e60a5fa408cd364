// Checks the messages that an official client receives, on any transport.
import { newestLegacy } from "../revisions.ts";
import { Conversation } from "./witness.ts";

type Listener = (message: object, ...more: readonly unknown[]) => void;

/** What the transports of both official versions have in common. */
interface Transport {
  send(message: never, ...more: readonly never[]): Promise<void>;
  onmessage?: unknown;
}

/** Has the transport watched from now on: call it before the client connects. */
export function watchTransport<T extends Transport>(transport: T): T {
  const conversation = new Conversation(newestLegacy);
  const send = transport.send.bind(transport);
  let listener: Listener | undefined;
  Object.defineProperties(transport, {
    send: {
      value: (message: never, ...more: readonly never[]) => {
        conversation.said(JSON.stringify(message));
        return send(message, ...more);
      },
    },
    onmessage: {
      get: () => listener,
      set(given: Listener | undefined) {
        listener = given;
        if (given === undefined) return;
        listener = (message, ...more) => {
          conversation.heardMessage(message);
          given(message, ...more);
        };
      },
    },
  });
  return transport;
}
