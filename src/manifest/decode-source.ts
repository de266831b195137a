import { isUtf8 } from 'node:buffer';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Source } from './source.ts';
import { createSourceText, type SourceText } from './source-text.ts';

/** Returns the text of a file. Returns a diagnostic too if it is not UTF-8. */
export function decodeManifestSource({ file, bytes, yaml }: Source): {
  readonly source: SourceText;
  readonly diagnostic: Diagnostic | undefined;
} {
  const source = createSourceText(file, yaml);
  return { source, diagnostic: isUtf8(bytes) ? undefined : createEncodingDiagnostic(source, bytes) };
}

function createEncodingDiagnostic(source: SourceText, bytes: Uint8Array): Diagnostic {
  const { index, offset } = locateBadByte(source.text, bytes);
  const byte = (bytes[offset] ?? 0).toString(16).padStart(2, '0');
  return {
    code: 'yaml-syntax',
    severity: 'error',
    message: `${source.file} is not UTF-8 text: byte ${offset} is 0x${byte}`,
    remedy: 'Save the file as UTF-8.',
    place: source.toPlace(index),
  };
}

const REPLACEMENT = '\uFFFD';
const REPLACEMENT_BYTES = [0xef, 0xbf, 0xbd] as const;
const MARK_BYTES = [0xef, 0xbb, 0xbf] as const;

/** Finds the first U+FFFD that the decoder inserted (not one that was in the file), and the byte that it replaces. */
function locateBadByte(text: string, bytes: Uint8Array): { readonly index: number; readonly offset: number } {
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
