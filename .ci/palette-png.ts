import { crc32, deflateSync } from 'node:zlib';

/** A picture: four bytes for each point, of which the last (opacity) counts for nothing. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const COLORS = 256;

/**
 * A PNG of the colours that most points have, a third as large as one of all colours. What a screenshot of text has besides are edges of letters in
 * rare mixtures of two colours: they get the nearest one.
 */
export function encodePalettePng({ width, height, data }: Pixels): Buffer {
  const colors = Array.from({ length: width * height }, (_, point) => toColor(data, point));
  const palette = choosePalette(colors);
  const indexOf = createFinder(palette);
  const rows = Buffer.alloc((width + 1) * height);
  for (const [point, color] of colors.entries()) rows[point + Math.floor(point / width) + 1] = indexOf(color);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    toChunk('IHDR', head),
    toChunk('PLTE', Buffer.from(palette.flatMap(toChannels))),
    toChunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    toChunk('IEND', Buffer.alloc(0)),
  ]);
}

function toColor(data: Uint8Array, point: number): number {
  const [red = 0, green = 0, blue = 0] = data.subarray(point * 4, point * 4 + 3);
  return (red << 16) | (green << 8) | blue;
}

function toChannels(color: number): readonly [number, number, number] {
  return [color >> 16, (color >> 8) & 255, color & 255];
}

function choosePalette(colors: readonly number[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const byCount = [...counts].sort(([left, some], [right, others]) => others - some || left - right);
  return byCount.slice(0, COLORS).map(([color]) => color);
}

/** Finds the place of the nearest colour. */
function createFinder(palette: readonly number[]): (color: number) => number {
  const known = new Map(palette.map((color, index) => [color, index]));
  const search = (color: number): number => {
    const distances = palette.map((other) => toDistance(color, other));
    return distances.indexOf(Math.min(...distances));
  };
  return (color) => {
    const index = known.get(color) ?? search(color);
    known.set(color, index);
    return index;
  };
}

function toDistance(left: number, right: number): number {
  const [red, green, blue] = toChannels(left);
  const [otherRed, otherGreen, otherBlue] = toChannels(right);
  return (red - otherRed) ** 2 + (green - otherGreen) ** 2 + (blue - otherBlue) ** 2;
}

function toChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
