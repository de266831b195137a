import { type Kind, listOneTimeFields, listSpecFields, onceForEachKind } from '../kinds/kind.ts';
import { listMarkedFields } from '../kinds/mark-fields.ts';
import { normalizeSpec } from '../kinds/normalize.ts';
import { isJsonObject, type JsonObject, toByteLength } from '../model/json.ts';
import {
  FIELD_DIGEST_LENGTH,
  MARK_KEY,
  parseMetadata,
  renderMetadata,
  renderUserMetadata,
  UNMANAGED,
} from '../model/mark.ts';
import type { ResourceLifecycle, Spec } from '../model/state.ts';
import type { Problem } from './problem.ts';

/** What a mark is made of besides the digests. */
export interface Marked {
  readonly kind: Kind;
  readonly stack: string;
  readonly name: string;
  readonly spec: Spec;
  readonly lifecycle: ResourceLifecycle;
  /** Whether all fields conform to the kind; the length is not counted before. */
  readonly isValid: boolean;
}

/** What is wrong with the metadata of a resource, given the mark that will stand in it too. */
export function findMetadataProblem(marked: Marked): Problem | undefined {
  const { kind, spec, isValid } = marked;
  const type = kind.fields['metadata']?.type;
  const user = spec['metadata'];
  if (type?.type !== 'metadata' || (typeof user !== 'string' && !isJsonObject(user))) return undefined;
  if (mayHoldMark(user)) {
    const { mark, trouble } = parseMetadata(renderUserMetadata(user));
    if (mark !== undefined || trouble !== undefined) return toReserved(user);
  }
  if (isSurelyShort(marked, user, type.maxBytes)) return undefined;
  const length = isValid ? toByteLength(renderMetadata(user, toLongestMark(marked))) : 0;
  return length <= type.maxBytes ? undefined : toTooLong(length, type.maxBytes);
}

function mayHoldMark(user: string | JsonObject): boolean {
  return typeof user === 'string' ? user.trimStart().startsWith('{') : Object.hasOwn(user, MARK_KEY);
}

/** Most metadata is far from the limit, whatever the mark turns out to be. */
function isSurelyShort({ kind, stack, name, lifecycle }: Marked, user: string | JsonObject, limit: number): boolean {
  const stated = toLength([stack, name, lifecycle.renamedFrom ?? '', ...lifecycle.ignore]);
  return toByteLength(JSON.stringify(user)) + stated + toFieldsLength(kind) + KEYS <= limit;
}

const toFieldsLength = onceForEachKind((kind) => toLength(listSpecFields(kind).map(([name]) => name)));

function toLength(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + toByteLength(text) + FIELD_DIGEST_LENGTH + QUOTES, 0);
}

/** Bytes between two entries of an object of texts, and more than all of its keys take in a mark. */
const QUOTES = 6;
const KEYS = 200;

function toReserved(user: string | JsonObject): Problem {
  return {
    code: 'reserved-metadata',
    message: `spec.metadata has the key \`${MARK_KEY}\`, which is reserved for the mark`,
    remedy: 'Use another key.',
    ...(typeof user === 'string'
      ? { path: ['spec', 'metadata'], target: 'value' }
      : { path: ['spec', 'metadata', MARK_KEY], target: 'key' }),
  };
}

function toTooLong(length: number, limit: number): Problem {
  return {
    code: 'too-long',
    message: `spec.metadata is ${length} bytes long, including the mark; the limit is ${limit} bytes of UTF-8`,
    remedy: `Shorten it by ${length - limit} ${length - limit === 1 ? 'byte' : 'bytes'}.`,
    path: ['spec', 'metadata'],
    target: 'value',
  };
}

/** The mark as it will be once everything is applied; the digests stand in for those that are not known yet. */
function toLongestMark({ kind, stack, name, spec, lifecycle }: Marked) {
  const digest = 'x'.repeat(FIELD_DIGEST_LENGTH);
  const marked = listMarkedFields(kind, normalizeSpec(kind, spec)).filter((field) => !lifecycle.ignore.includes(field));
  const fields = [...marked.map((field) => [field, digest]), ...lifecycle.ignore.map((field) => [field, UNMANAGED])];
  return {
    stack,
    name,
    protect: lifecycle.protect,
    delivered: listOneTimeFields(kind).length > 0,
    ...(lifecycle.renamedFrom !== undefined && { was: lifecycle.renamedFrom }),
    fields: Object.fromEntries(fields),
  };
}
