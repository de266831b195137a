import type { FieldType } from '../kinds/field.ts';
import { toObjectTypeOfKind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { findMemberType } from '../kinds/walk.ts';
import type { ApiError } from '../model/errors.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import type { Outcome } from '../model/outcome.ts';
import type { FieldPath } from '../model/state.ts';
import type { Write } from '../model/write.ts';

type RejectionFacts = Pick<Extract<Outcome, { readonly outcome: 'failed' }>, 'isAuthentication' | 'status' | 'field'>;

/** The facts about a rejected write that reports show in addition to the message. */
export function getRejectionFacts(write: Write, error: ApiError): RejectionFacts {
  const field = write.body === undefined ? undefined : findNamedField(write, error);
  return {
    isAuthentication: error.isAuthentication,
    status: error.response.status,
    ...(field !== undefined && { field }),
  };
}

/**
 * Finds the spec field that an error response names. Returns the part of its path that the kind's table contains;
 * `undefined` if the response names no field.
 */
function findNamedField(write: Write, error: ApiError): string | undefined {
  const kind = findKind(write.kind);
  if (kind === undefined) return undefined;
  const prefixes: readonly FieldPath[] = write.module === undefined ? [[]] : [[write.module], []];
  for (const words of listCandidates(error)) {
    for (const prefix of prefixes) {
      const path = keepKnown(toObjectTypeOfKind(kind), [...prefix, ...words]);
      if (path.length > prefix.length) return formatPath(path);
    }
  }
  return undefined;
}

/**
 * Lists everything in an error response that may be the path of a field, most reliable first: values of `details` whose
 * key matches LABELS, keys of `details`, words of the message.
 */
function listCandidates({ message, response: { details, method, path } }: ApiError): readonly FieldPath[] {
  const entries = Object.entries(details).filter(([name]) => !IDENTIFIERS.test(name));
  const said = message.replace(`${method} ${path}: `, '');
  return [
    ...entries.filter(([name]) => LABELS.test(name)).map(([, value]) => value),
    ...entries.map(([name]) => name),
    ...listPathWords(said),
  ].map(readPath);
}

/** Keys of `details` whose value is the path of a field. */
const LABELS = /^(?:field|path|param|parameter|property|pointer|attribute|location)s?$/i;

/** Keys of `details` that identify a resource or request, not a field. */
const IDENTIFIERS = /^(?:id|operation_id|request_id)$/;

/**
 * Lists the words of a message that may be a path: the word right after the status and code, words in quotes, and words
 * that look like a path or a field name.
 */
function listPathWords(said: string): readonly string[] {
  const [, first = ''] = /^\d{3}[^:]*: (\S+)/.exec(said) ?? [];
  const quoted = Array.from(said.matchAll(/[`'"]([^`'"\s]{1,200})[`'"]/g), ([, word = '']) => word);
  const bare = said.match(/[A-Za-z][\w-]*(?:[._[/][\w\]-]*)+/g) ?? [];
  return [first, ...quoted, ...bare];
}

/** Parses a path. `hostports[0]`, `hostports.0`, `/hostports/0` and `spec.hostports[0]` are the same path. */
function readPath(text: string): FieldPath {
  const bare = text.replace(/[.,:;]+$/, '').replace(/^(?:\$|#)?[./]?/, '');
  const path = bare.includes('/') ? bare.split('/') : (parsePath(bare) ?? []);
  const [first, ...rest] = path;
  return typeof first === 'string' && PATH_PREFIXES.has(first) && rest.length > 0 ? rest : path;
}

/** Leading steps that services add to the path of a field, as in `spec.hostports`. */
const PATH_PREFIXES: ReadonlySet<string> = new Set(['body', 'spec', 'request', 'data']);

/**
 * Returns the leading steps of a path that exist in the types. Stops at an unordered list: its members were sorted
 * before they were sent, so an index in the response does not match the manifest.
 */
function keepKnown(root: FieldType, path: FieldPath): FieldPath {
  const known: (string | number)[] = [];
  let type: FieldType | undefined = root;
  for (const step of path) {
    if (type?.type === 'list' && type.unordered) break;
    const own: string | number = type?.type === 'list' && /^\d+$/.test(String(step)) ? Number(step) : step;
    type = findMemberType(type, own);
    if (type === undefined) break;
    known.push(own);
  }
  return known;
}
