import type { FieldType } from '../kinds/field.ts';
import { toSpecType } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { findInnerType } from '../kinds/walk.ts';
import type { ApiError } from '../model/errors.ts';
import { parsePath, toPathText } from '../model/field-path.ts';
import type { Outcome } from '../model/outcome.ts';
import type { FieldPath } from '../model/state.ts';
import type { Write } from '../model/write.ts';

type Refusal = Pick<Extract<Outcome, { readonly outcome: 'failed' }>, 'isAuthentication' | 'status' | 'field'>;

/** What the service says of a write that it refused, besides the message. */
export function toRefusal(write: Write, error: ApiError): Refusal {
  const field = 'body' in write ? findNamedField(write, error) : undefined;
  return {
    isAuthentication: error.isAuthentication,
    status: error.response.status,
    ...(field !== undefined && { field }),
  };
}

/** The field of the spec that a refusal names, as far as the kind's table knows it; nothing when it names none. */
function findNamedField(write: Write, error: ApiError): string | undefined {
  const kind = findKind(write.kind);
  if (kind === undefined) return undefined;
  const prefixes: readonly FieldPath[] = write.act === 'set-module' ? [[write.module], []] : [[]];
  for (const words of listCandidates(error)) {
    for (const prefix of prefixes) {
      const path = takeKnown(toSpecType(kind), [...prefix, ...words]);
      if (path.length > prefix.length) return toPathText(path);
    }
  }
  return undefined;
}

/** Everything in a refusal that may be a path, most reliable first: fields in `details`, its keys, then the message. */
function listCandidates({ message, response: { details, method, path } }: ApiError): readonly FieldPath[] {
  const entries = Object.entries(details).filter(([name]) => !IDENTIFIERS.test(name));
  const said = message.replace(`${method} ${path}: `, '');
  return [
    ...entries.filter(([name]) => LABELS.test(name)).map(([, value]) => value),
    ...entries.map(([name]) => name),
    ...listPathWords(said),
  ].map(readPath);
}

/** What services call the place of a fault. */
const LABELS = /^(?:field|path|param|parameter|property|pointer|attribute|location)s?$/i;

/** Keys of `details` that name a resource and not a field. */
const IDENTIFIERS = /^(?:id|operation_id|request_id)$/;

/** Words in quotes, words right after the status and code, and words that look like a path or a field name. */
function listPathWords(said: string): readonly string[] {
  const [, first = ''] = /^\d{3}[^:]*: (\S+)/.exec(said) ?? [];
  const quoted = Array.from(said.matchAll(/[`'"]([^`'"\s]{1,200})[`'"]/g), ([, word = '']) => word);
  const bare = said.match(/[A-Za-z][\w-]*(?:[._[/][\w\]-]*)+/g) ?? [];
  return [first, ...quoted, ...bare];
}

/** `hostports[0]`, `hostports.0`, `/hostports/0` and `spec.hostports[0]` are all the same place. */
function readPath(text: string): FieldPath {
  const bare = text.replace(/[.,:;]+$/, '').replace(/^(?:\$|#)?[./]?/, '');
  const path = bare.includes('/') ? bare.split('/') : (parsePath(bare) ?? []);
  const [first, ...rest] = path;
  return typeof first === 'string' && SURROUNDINGS.has(first) && rest.length > 0 ? rest : path;
}

/** What may stand before the path of a field. */
const SURROUNDINGS: ReadonlySet<string> = new Set(['body', 'spec', 'request', 'data']);

/** The steps that the types know. The members of a set were sorted before they were sent: their numbers say nothing of the manifest. */
function takeKnown(root: FieldType, path: FieldPath): FieldPath {
  const known: (string | number)[] = [];
  let type: FieldType | undefined = root;
  for (const step of path) {
    if (type?.type === 'list' && type.unordered) break;
    const own: string | number = type?.type === 'list' && /^\d+$/.test(String(step)) ? Number(step) : step;
    type = findInnerType(type, own);
    if (type === undefined) break;
    known.push(own);
  }
  return known;
}
