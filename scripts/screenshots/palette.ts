// Makes a picture smaller: a PNG with a palette of at most 256 colours, which is all that a page of text and lines needs.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Takes an opaque PNG of 8 bits in RGB or RGBA, as a browser writes it. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, colours } = read(png);
  const palette = paletteOf(colours);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < colours.length; at++) {
    const colour = colours[at]!;
    let place = places.get(colour);
    if (place === undefined) places.set(colour, (place = nearest(colour, palette)));
    rows[Math.floor(at / width) + 1 + at] = place;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  const entries = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const parts = [
    chunk("IHDR", header),
    chunk("PLTE", entries),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
  ];
  return Buffer.concat([signature, ...parts, chunk("IEND", Buffer.alloc(0))]);
}

/** The most frequent colours, as far apart as they must be to become few. A colour that is rare and like no other has a place too. */
function paletteOf(colours: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const frequent = [...counts.keys()].toSorted((one, other) => counts.get(other)! - counts.get(one)!);
  for (let apart = 1; ; apart *= 2) {
    const chosen: number[] = [];
    for (const colour of frequent) {
      if (chosen.every((other) => distance(colour, other) >= apart)) chosen.push(colour);
      if (chosen.length > 256) break;
    }
    if (chosen.length <= 256) return chosen;
  }
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue in one number each. */
  readonly colours: Uint32Array;
}

function read(png: Buffer): Pixels {
  const data: Buffer[] = [];
  let header = Buffer.alloc(0);
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") header = Buffer.from(body);
    if (type === "IDAT") data.push(body);
    at += length + 12;
  }
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const size = header[9] === 6 ? 4 : 3;
  const bytes = unfiltered(inflateSync(Buffer.concat(data)), width * size, height, size);
  const colours = new Uint32Array(width * height);
  for (let at = 0; at < colours.length; at++) colours[at] = bytes.readUIntBE(at * size, 3);
  return { width, height, colours };
}

/** Undoes the filter of each row: what a byte was predicted to be, from those before and above it. */
function unfiltered(filtered: Buffer, rowLength: number, height: number, size: number): Buffer {
  const bytes = Buffer.alloc(rowLength * height);
  for (let row = 0; row < height; row++) {
    const filter = filtered[row * (rowLength + 1)];
    for (let column = 0; column < rowLength; column++) {
      const at = row * rowLength + column;
      const before = column >= size ? bytes[at - size]! : 0;
      const above = row > 0 ? bytes[at - rowLength]! : 0;
      const corner = column >= size && row > 0 ? bytes[at - rowLength - size]! : 0;
      const guesses = [0, before, above, (before + above) >> 1, paeth(before, above, corner)];
      bytes[at] = filtered[row * (rowLength + 1) + 1 + column]! + guesses[filter ?? 0]!;
    }
  }
  return bytes;
}

/** The one of the three that is nearest to what a slope through them leads to. */
function paeth(before: number, above: number, corner: number): number {
  const slope = before + above - corner;
  const [toBefore, toAbove, toCorner] = [before, above, corner].map((value) => Math.abs(slope - value)) as [
    number,
    number,
    number,
  ];
  if (toBefore <= toAbove && toBefore <= toCorner) return before;
  return toAbove <= toCorner ? above : corner;
}

function nearest(colour: number, palette: readonly number[]): number {
  let best = 0;
  for (let place = 1; place < palette.length; place++) {
    if (distance(colour, palette[place]!) < distance(colour, palette[best]!)) best = place;
  }
  return best;
}

function distance(one: number, other: number): number {
  const red = (one >> 16) - (other >> 16);
  const green = ((one >> 8) & 255) - ((other >> 8) & 255);
  const blue = (one & 255) - (other & 255);
  return red * red + green * green + blue * blue;
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), body]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(body.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
