/** What the engine compiled of files in an earlier run, by their names. */
export interface KeptCode {
  /** When it was compiled, in milliseconds since 1970. */
  readonly atMs: number;
  readonly code: ReadonlyMap<string, Uint8Array>;
}

/** The engine takes what starts at a multiple of this as it is, and copies everything else. */
const ALIGNMENT = 8;

/** The longest line in front: more would be no list of files of this program. */
const MOST_HEAD_BYTES = 100_000;

/** Compiled code as bytes: a line that says what there is, then the code of each file. */
export function renderKeptCode({ atMs, code }: KeptCode): Uint8Array {
  const names = [...code].map(([name, { length }]) => ` ${name} ${length}`).join('');
  const length = [...code.values()].reduce((sum, part) => sum + toAligned(part.length), 0);
  const head = Buffer.from(`${atMs} ${length}${names}`);
  const parts = [Buffer.alloc(toAligned(head.length + 1), ' '), ...[...code.values()].map(toPadded)];
  parts[0]?.set(head);
  parts[0]?.set([LINE_END], parts[0].length - 1);
  return Buffer.concat(parts);
}

const LINE_END = 10;

function toAligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

function toPadded(part: Uint8Array): Uint8Array {
  const padded = new Uint8Array(toAligned(part.length));
  padded.set(part);
  return padded;
}

/** What those bytes hold; `undefined` when they are not whole, or no such bytes. */
export function parseKeptCode(bytes: Buffer): KeptCode | undefined {
  const end = bytes.subarray(0, MOST_HEAD_BYTES).indexOf(LINE_END);
  const [atMs, length, ...names] = bytes.toString('latin1', 0, Math.max(end, 0)).trimEnd().split(' ');
  if (end === -1 || Number(length) !== bytes.length - end - 1) return undefined;
  const code = new Map<string, Uint8Array>();
  let start = end + 1;
  for (let index = 0; index < names.length; index += 2) {
    const size = Number(names[index + 1]);
    code.set(names[index] ?? '', bytes.subarray(start, start + size));
    start += toAligned(size);
  }
  return start === bytes.length ? { atMs: Number(atMs), code } : undefined;
}
