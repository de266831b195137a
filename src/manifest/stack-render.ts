import { isUtf8 } from 'node:buffer';
import type { Diagnostic, SourcePlace } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import { createYamlBudget } from './bounded-yaml.ts';
import type { ManifestEnvironment } from './environment.ts';
import { locateSource } from './finding.ts';
import { isApiVersionOfOthers } from './foreign.ts';
import type { ManifestBytes } from './load.ts';
import { parseDocuments } from './parse.ts';
import { createSourceText, type SourceText } from './source-text.ts';
import { mayContainDefaultsDocument, mayContainStackDocument } from './stack-folders.ts';

/** The value of `spec.render` in a `Stack` or `Defaults`. */
export interface LocatedRenderCommand {
  readonly file: string;
  /**
   * The program and its arguments. `undefined` if they are invalid or the document has a finding. Validation reports
   * either.
   */
  readonly words: readonly string[] | undefined;
  readonly place: SourcePlace;
}

/** Returns the first `spec.render` in the Stack or Defaults documents of a file, as `kind` says. */
export function findRenderInFile(
  source: ManifestBytes,
  env: ManifestEnvironment,
  kind: 'Stack' | 'Defaults',
): LocatedRenderCommand | undefined {
  const found = findSpecMemberInFile('render', source, { env, kind });
  if (found === undefined) return undefined;
  const { value, isClear, locate } = found;
  return { file: source.file, words: isClear ? parseCommand(value) : undefined, place: locate([], 'key') };
}

/** A member of the `spec` of a `Stack` or `Defaults`, which is not checked. */
export interface FoundSpecMember {
  readonly value: Json;
  /** Whether the document has no syntax finding. */
  readonly isClear: boolean;
  /** Returns the position of a path below the member. */
  readonly locate: (path: FieldPath, target: 'key' | 'value') => SourcePlace;
}

/** Returns the first `spec` member of a name in the Stack or Defaults documents of a file, as `kind` says. */
export function findSpecMemberInFile(
  name: string,
  source: ManifestBytes,
  { env, kind }: { readonly env: ManifestEnvironment; readonly kind: 'Stack' | 'Defaults' },
): FoundSpecMember | undefined {
  if (!(kind === 'Stack' ? mayContainStackDocument : mayContainDefaultsDocument)(source.bytes)) return undefined;
  const text = decodeManifestSource(source);
  if ('code' in text) return undefined;
  for (const { value, span, tree, findings } of parseDocuments(text.text, env, createYamlBudget())) {
    const [first] = listSpecMembers(value, { kind, name }, []);
    if (first === undefined) continue;
    const position = { source: text, span, tree, base: first.base };
    const locate: FoundSpecMember['locate'] = (path, target) =>
      locateSource({ position, path: ['spec', name, ...path], target });
    return { value: first.value, isClear: findings.length === 0, locate };
  }
  return undefined;
}

/** Lists a `spec` member of a document, or of each member of a `List`. */
function listSpecMembers(
  value: Json,
  wanted: { readonly kind: string; readonly name: string },
  base: FieldPath,
): readonly { readonly base: FieldPath; readonly value: Json }[] {
  if (!isJsonObject(value)) return [];
  const { kind, items, spec, apiVersion } = value;
  if (kind === 'List' && items !== undefined && isJsonArray(items))
    return items.flatMap((item, index) => listSpecMembers(item, wanted, [...base, 'items', index]));
  if (kind !== wanted.kind || isApiVersionOfOthers(apiVersion)) return [];
  const member = spec !== undefined && isJsonObject(spec) ? spec[wanted.name] : undefined;
  return member === undefined ? [] : [{ base, value: member }];
}

/** Returns the program and its arguments, or `undefined` if the value is not a valid command. */
function parseCommand(render: Json): readonly string[] | undefined {
  if (!isJsonArray(render) || render.length === 0) return undefined;
  const words = render.filter((word) => typeof word === 'string' && word !== '');
  return words.length === render.length ? words.map(String) : undefined;
}

/** Decodes a file. Returns a diagnostic if it is not UTF-8. Drops a byte order mark. */
export function decodeManifestSource(source: ManifestBytes): SourceText | Diagnostic {
  const text = createSourceText(source.file, DECODER.decode(source.bytes));
  return isUtf8(source.bytes) ? text : createEncodingDiagnostic(text, source.bytes);
}

const DECODER = new TextDecoder('utf-8');

function createEncodingDiagnostic(source: SourceText, bytes: Uint8Array): Diagnostic {
  const { index, offset } = locateBadByte(source.text, bytes);
  const byte = (bytes[offset] ?? 0).toString(16).padStart(2, '0');
  return {
    code: 'yaml-syntax',
    severity: 'error',
    message: `${source.file} is not UTF-8 text: byte ${offset} is 0x${byte}`,
    remedy: 'Save the file as UTF-8.',
    place: source.toPlace({ start: index, end: index + 1 }),
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
