import type { Situation } from './account.ts';

/** A situation as text that fits behind the `#` of a link, and back. It is sent nowhere: a browser keeps what is behind the `#` to itself. */

/** Some programs cut longer links. */
const MAX_LINK = 60_000;
/** A few kilobytes can be the packed form of gigabytes. */
const MAX_UNPACKED = 4_000_000;

/** Throws an error with a message for people when it would be too long. */
export async function pack(situation: Situation): Promise<string> {
  const packed = await pipe(new TextEncoder().encode(JSON.stringify(situation)), new CompressionStream('deflate-raw'));
  const text = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(''));
  if (text.length <= MAX_LINK) return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  throw new Error(
    `This is too long for a link: ${text.length} characters; the limit is ${MAX_LINK}. Leave out manifests, or start again.`,
  );
}

/** Throws an error for the user if the text is not a situation. The caller checks the content of the situation. */
export async function unpack(text: string): Promise<Situation> {
  try {
    if (text.length > MAX_LINK) throw new Error('too long');
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (unit) => unit.charCodeAt(0));
    const value: unknown = JSON.parse(
      new TextDecoder().decode(await pipe(bytes, new DecompressionStream('deflate-raw'))),
    );
    if (!isSituation(value)) throw new Error('something else');
    return value;
  } catch (error) {
    throw new Error('This link is damaged or too large: it was not opened.', { cause: error });
  }
}

async function pipe(
  bytes: Uint8Array<ArrayBuffer>,
  through: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let length = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    length += value.length;
    parts.push(value);
    if (length <= MAX_UNPACKED) continue;
    await reader.cancel();
    throw new Error('too much');
  }
}

function isSituation(value: unknown): value is Situation {
  const { files, hours, fault } = Object(value) as Partial<Record<keyof Situation, unknown>>;
  const isFile = (one: unknown) => ['file', 'text'].every((name) => typeof Object(one)[name] === 'string');
  const hasFiles = Array.isArray(files) && files.length > 0 && files.length <= 200 && files.every(isFile);
  return hasFiles && Number.isFinite(hours) && Math.abs(Number(hours)) < 1e6 && typeof fault === 'string';
}
