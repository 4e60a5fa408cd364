// The smallest valid image and the smallest valid sound.

/** A PNG of one transparent pixel, in base64. */
export const onePixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** A WAV of one silent sample: 8 bits, one channel, 8 kHz. */
export function silence(): Uint8Array {
  const wav = Buffer.alloc(45, 0);
  wav.write("RIFF", 0, "ascii");
  wav.writeUInt32LE(37, 4);
  wav.write("WAVEfmt ", 8, "ascii");
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(8000, 24);
  wav.writeUInt32LE(8000, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34);
  wav.write("data", 36, "ascii");
  wav.writeUInt32LE(1, 40);
  wav.writeUInt8(128, 44);
  return wav;
}
