// Collects the body of a reply within a limit: without a copy if it arrives in one piece.
import { bufferOf, type GrowingBuffer } from "../../base/wire/bytes.ts";
import { tooLarge } from "./loss.ts";
import type { HttpReply } from "./send.ts";

const noBytes = new Uint8Array(0);

/** Resolves with the whole body of the reply from `url`. */
export async function collect(
  reply: Pick<HttpReply, "read">,
  url: string,
  maxBytes: number,
): Promise<Uint8Array> {
  let first: Uint8Array | undefined;
  let all: GrowingBuffer | undefined;
  let size = 0;
  await reply.read((piece) => {
    size += piece.length;
    if (size > maxBytes) throw tooLarge(url, maxBytes);
    if (first === undefined) first = piece;
    else (all ??= bufferOf(first)).add(piece);
  });
  return all?.bytes ?? first ?? noBytes;
}
