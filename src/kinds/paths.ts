import { InvariantError } from '../model/errors.ts';
import type { Spec } from '../model/state.ts';
import type { PathIds } from '../model/write.ts';
import { type Kind, onceForEachKind } from './kind.ts';

/** Stands in a path for an id that is known after apply. */
export const ID_PLACEHOLDER = '{id}';

/** The path of one resource, relative to the base URL. `ids` has `id` and, for attached kinds, the ids of parents. */
export function toResourcePath(kind: Kind, ids: Spec): string {
  // By far the most.
  if (kind.role !== 'attached') return `${kind.path}/${toSegment(kind, 'id', ids)}`;
  return toPathTemplate(kind).replace(/\{(\w+)\}/g, (_, name: string) => toSegment(kind, name, ids));
}

/** The path of one resource with `{id}` and the names of parents' ids in it. */
export function toPathTemplate(kind: Kind): string {
  return kind.role === 'attached' ? kind.path : `${kind.path}/{id}`;
}

/** The names of the ids that the path of one resource holds, parents first: `id`, and for attached kinds fields of their specs. */
export const listPathFields = onceForEachKind((kind): readonly string[] => listPathParameters(toPathTemplate(kind)));

/** The ids that the path of one resource is made of: its own and, of attached kinds, those that its spec has. */
export function toPathIds(kind: Kind, { id, spec = {} }: { readonly id: string; readonly spec?: Spec }): PathIds {
  const ids = listPathFields(kind).map((name) => [name, name === 'id' ? id : String(spec[name])] as const);
  return { ...Object.fromEntries(ids), id };
}

/** The names that stand in braces in a path. */
export function listPathParameters(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
}

/** The path of one module of a resource. */
export function toModulePath(kind: Kind, ids: Spec, module: string): string {
  return `${toResourcePath(kind, ids)}/${module}`;
}

/** Where the service keeps kinds that this interface only refers to, by id prefix. */
const EXTERNAL_PATHS: Readonly<Record<string, string>> = {
  ipp: '/ip_policies',
  bkdhr: '/backends/http_response',
  bkdtg: '/backends/tunnel_group',
  ca: '/certificate_authorities',
  sshca: '/ssh_certificate_authorities',
};

/** The path of something that this interface cannot create, relative to the base URL. */
export function toExternalPath(id: string): string {
  const path = EXTERNAL_PATHS[id.slice(0, id.indexOf('_'))] ?? '';
  return `${path}/${encodeURIComponent(id)}`;
}

/** Whether a text can be an id: not empty, not a path segment such as `..`, not the placeholder for an id, and valid in a URL. */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && !NO_IDS.has(text) && text.isWellFormed();
}

const NO_IDS: ReadonlySet<string> = new Set(['', '.', '..', ID_PLACEHOLDER]);

/** `.` and `..` would lead to another resource, however they are encoded. */
function toSegment(kind: Kind, name: string, ids: Spec): string {
  const id = ids[name];
  if (id === ID_PLACEHOLDER) return id;
  if (!isId(id)) throw new InvariantError(`${kind.name}: ${JSON.stringify(id)} cannot stand for ${name} in a path`);
  return encodeURIComponent(id);
}
