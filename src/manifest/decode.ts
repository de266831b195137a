import { isUtf8 } from 'node:buffer';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ManifestBytes } from './load.ts';
import { createSourceText, type SourceText } from './source-text.ts';

/** The text of a file, or what is wrong with its bytes. A byte order mark does not belong to the text. */
export function decodeSource(source: ManifestBytes): SourceText | Diagnostic {
  const text = createSourceText(source.file, DECODER.decode(source.bytes));
  return isUtf8(source.bytes) ? text : toDiagnostic(text, source.bytes);
}

/** It keeps nothing of what it decoded. */
const DECODER = new TextDecoder('utf-8');

function toDiagnostic(source: SourceText, bytes: Uint8Array): Diagnostic {
  const { index, offset } = findBadByte(source.text, bytes);
  const byte = (bytes[offset] ?? 0).toString(16).padStart(2, '0');
  return {
    code: 'file-not-utf8',
    severity: 'error',
    message: `${source.file} is not UTF-8 text: byte ${offset} is 0x${byte}`,
    remedy: 'Save the file as UTF-8.',
    place: source.toPlace({ start: index, end: index + 1 }),
  };
}

const REPLACEMENT = '\uFFFD';
const REPLACEMENT_BYTES = [0xef, 0xbf, 0xbd] as const;
const MARK_BYTES = [0xef, 0xbb, 0xbf] as const;

/** The first replacement character of the decoded text that the bytes do not hold themselves, and the byte that it stands for. */
function findBadByte(text: string, bytes: Uint8Array): { readonly index: number; readonly offset: number } {
  let from = 0;
  let offset = holdsAt(bytes, 0, MARK_BYTES) ? MARK_BYTES.length : 0;
  for (let index = text.indexOf(REPLACEMENT); index >= 0; index = text.indexOf(REPLACEMENT, index + 1)) {
    offset += Buffer.byteLength(text.slice(from, index));
    if (!holdsAt(bytes, offset, REPLACEMENT_BYTES)) return { index, offset };
    from = index;
  }
  return { index: 0, offset: 0 };
}

function holdsAt(bytes: Uint8Array, offset: number, wanted: readonly number[]): boolean {
  return wanted.every((byte, index) => bytes[offset + index] === byte);
}
