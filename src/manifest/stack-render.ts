import type { SourcePlace } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import { decodeSource } from './decode.ts';
import type { Environment } from './environment.ts';
import { createAllowance } from './lex.ts';
import type { ManifestBytes } from './load.ts';
import { createLocator } from './locate.ts';
import { parseDocuments } from './parse.ts';
import { toPlace } from './problem.ts';
import { mayHoldStack } from './stack-folders.ts';

/** What `spec.render` of a Stack says. */
export interface StackRender {
  /** The file that the Stack stands in. */
  readonly file: string;
  /** Program and arguments; `undefined`: what is there is no command, or the document has a fault. Validation tells either. */
  readonly words: readonly string[] | undefined;
  readonly place: SourcePlace;
}

/** The first `spec.render` in a file. */
export function findStackRender(source: ManifestBytes, env: Environment): StackRender | undefined {
  const { buffer, byteOffset, byteLength } = source.bytes;
  // Parsing a file of ten thousand documents for nothing would take as long as reading them does.
  if (!mayHoldStack(source.bytes) || !Buffer.from(buffer, byteOffset, byteLength).includes('render')) return undefined;
  const text = decodeSource(source);
  if ('code' in text) return undefined;
  for (const { value, span, faults } of parseDocuments(text.text, env, createAllowance())) {
    const [first] = listRenders(value, []);
    if (first === undefined) continue;
    const position = { source: text, span, base: first.base };
    const place = toPlace({ position, path: ['spec', 'render'], target: 'key' }, createLocator());
    return { file: source.file, words: faults.length === 0 ? toWords(first.render) : undefined, place };
  }
  return undefined;
}

interface FoundRender {
  readonly base: FieldPath;
  readonly render: Json;
}

/** Of a document, and of the members of a `List`. */
function listRenders(value: Json, base: FieldPath): readonly FoundRender[] {
  if (!isJsonObject(value)) return [];
  const { kind, items, spec } = value;
  if (kind === 'List' && items !== undefined && isJsonArray(items))
    return items.flatMap((item, index) => listRenders(item, [...base, 'items', index]));
  const render = kind === 'Stack' && spec !== undefined && isJsonObject(spec) ? spec['render'] : undefined;
  return render === undefined ? [] : [{ base, render }];
}

/** The command that a value is. */
function toWords(render: Json): readonly string[] | undefined {
  if (!isJsonArray(render) || render.length === 0) return undefined;
  const words = render.filter((word) => typeof word === 'string' && word !== '');
  return words.length === render.length ? words.map(String) : undefined;
}
