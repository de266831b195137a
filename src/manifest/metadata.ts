import { AS_WRITTEN, canonical, listFieldsWithDigest } from '../kinds/canonical.ts';
import { hasToken, type Kind } from '../kinds/kind.ts';
import { createLongestMarkReferences } from '../kinds/paths.ts';
import type { Finding } from '../model/finding.ts';
import { computeUtf8ByteLength, isJsonObject, type JsonObject } from '../model/json.ts';
import {
  FIELD_DIGEST_LENGTH,
  IGNORED_FIELD_DIGEST,
  MARK_KEY,
  renderMetadata,
  renderUserMetadata,
  splitMetadata,
} from '../model/mark.ts';
import type { ResourceLifecycle, Spec } from '../model/state.ts';

/** The data that a mark contains, except the digests. */
interface MarkContent {
  readonly kind: Kind;
  readonly stack: string;
  readonly name: string;
  readonly spec: Spec;
  readonly lifecycle: ResourceLifecycle;
  /** Whether all fields conform to the kind. If not, the length of the metadata is not checked. */
  readonly isValid: boolean;
}

/** Returns the error in a resource's metadata, if any. The mark counts towards the length limit. */
export function findMetadataFinding(marked: MarkContent): Finding | undefined {
  const { kind, spec, isValid } = marked;
  const type = kind.fields['metadata']?.type;
  const user = spec['metadata'];
  if (type?.type !== 'metadata' || (typeof user !== 'string' && !isJsonObject(user))) return undefined;
  if (mayHoldMark(user)) {
    const { mark, error } = splitMetadata(renderUserMetadata(user));
    if (mark !== undefined || error !== undefined) return createReservedFinding(user);
  }
  const length = isValid ? computeUtf8ByteLength(renderMetadata(user, createLongestMark(marked))) : 0;
  return length <= type.maxBytes ? undefined : createTooLongFinding(length, type.maxBytes);
}

function mayHoldMark(user: string | JsonObject): boolean {
  return typeof user === 'string' ? user.trimStart().startsWith('{') : Object.hasOwn(user, MARK_KEY);
}

function createReservedFinding(user: string | JsonObject): Finding {
  return {
    code: 'bad-value',
    message: `spec.metadata has the key \`${MARK_KEY}\`, which is reserved for the mark`,
    remedy: 'Use another key.',
    ...(typeof user === 'string'
      ? { path: ['spec', 'metadata'] }
      : { path: ['spec', 'metadata', MARK_KEY], target: 'key' }),
  };
}

function createTooLongFinding(length: number, limit: number): Finding {
  return {
    code: 'bad-value',
    message: `spec.metadata is ${length} bytes long, including the mark; the limit is ${limit} bytes of UTF-8`,
    remedy: `Shorten it by ${length - limit} ${length - limit === 1 ? 'byte' : 'bytes'}.`,
    path: ['spec', 'metadata'],
  };
}

/** Returns the longest mark that apply may write. Placeholders stand for the digests, and have the same length. */
function createLongestMark({ kind, stack, name, spec, lifecycle }: MarkContent) {
  const digest = 'x'.repeat(FIELD_DIGEST_LENGTH);
  const marked = listFieldsWithDigest(kind, canonical(kind, spec, AS_WRITTEN)).filter(
    (field) => !lifecycle.ignore.includes(field),
  );
  const fields = [
    ...marked.map((field) => [field, digest]),
    ...lifecycle.ignore.map((field) => [field, IGNORED_FIELD_DIGEST]),
  ];
  return {
    stack,
    name,
    protect: lifecycle.protect,
    delivered: hasToken(kind),
    ...createLongestMarkReferences(kind),
    fields: Object.fromEntries(fields),
  };
}
