import type { Address } from '../model/address.ts';
import { InvariantError } from '../model/errors.ts';
import type { Spec } from '../model/state.ts';
import type { PathIds } from '../model/write.ts';
import type { ReferenceType } from './field.ts';
import { isModule, type Kind } from './kind.ts';

/**
 * Ids: a prefix for the type of resource, an underscore, and a text chosen by the service. Ids go into URLs, names of files, arguments of commands
 * and marks. So nothing counts as one that could mean something else there: letters, digits, `_` and `-`, and not too many of them.
 */

const OWN_TEXT = '[A-Za-z0-9_-]{1,100}';
const ID = new RegExp(`^[a-z]+_${OWN_TEXT}$`);
/** Of what the service chose, the prefix is its own affair. */
const ANY_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,119}$/;

/** Whether a value from the service can be an id: harmless in a URL, as the name of a file, and as an argument of a command. */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && ANY_ID.test(text);
}

/** What ids from the service look like, in words. */
export const ID_FORM = 'at most 120 letters, digits, `_` and `-`, starting with a letter or digit';

/** Where ids of some prefixes are expected. */
type Prefixes = Pick<ReferenceType, 'prefixes'>;

/** The regular expression of ids with one of the prefixes, without anchors. */
export function toIdPattern({ prefixes }: Prefixes): string {
  return `(${prefixes.join('|')})_${OWN_TEXT}`;
}

/** Whether a text has the form of an id, of whatever it is. */
export function isWellFormedId(text: string): boolean {
  return ID.test(text);
}

/** Whether a text is an id with one of the prefixes. */
export function isIdOf({ prefixes }: Prefixes, text: string): boolean {
  return isWellFormedId(text) && prefixes.includes(toPrefix(text));
}

/** The ids that are expected, in words: `bkdhr_… or bkdtg_…`. */
export function describeIds({ prefixes }: Prefixes): string {
  return prefixes.map((prefix) => `${prefix}_…`).join(' or ');
}

/**
 * Why a text that starts like one of these ids is not an id; follows the name of its position in a message. `undefined`: it is one, or does not start like
 * one.
 */
export function describeMalformedId(expected: Prefixes, text: string): string | undefined {
  const prefix = toPrefix(text);
  if (!expected.prefixes.includes(prefix) || isIdOf(expected, text)) return undefined;
  return `\`${text}\` is not an id: \`${prefix}_\` is followed by 1 to 100 letters, digits, \`_\` and \`-\``;
}

function toPrefix(text: string): string {
  return text.slice(0, Math.max(text.indexOf('_'), 0));
}

/** The placeholder in a path for an id that is known after apply. */
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
export function listPathFields(kind: Kind): readonly string[] {
  return listPathParameters(toPathTemplate(kind));
}

/** The ids that the path of one resource is made of: its own and, of attached kinds, those that its spec has. */
export function toPathIds(kind: Kind, { id, spec = {} }: { readonly id: string; readonly spec?: Spec }): PathIds {
  const ids = listPathFields(kind).map((name) => [name, name === 'id' ? id : String(spec[name])] as const);
  return { ...Object.fromEntries(ids), id };
}

/** The names in the braces of a path. */
export function listPathParameters(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
}

/** The path of one module of a resource. */
export function toModulePath(kind: Kind, ids: Spec, module: string): string {
  return `${toResourcePath(kind, ids)}/${module}`;
}

/** What this interface only refers to, by id prefix: where the service keeps it, and what several are called. */
const EXTERNALS: Readonly<Record<string, { readonly path: string; readonly title: string }>> = {
  ipp: { path: '/ip_policies', title: 'IP policies' },
  bkdhr: { path: '/backends/http_response', title: 'HTTP-response backends' },
  bkdtg: { path: '/backends/tunnel_group', title: 'tunnel-group backends' },
  ca: { path: '/certificate_authorities', title: 'certificate authorities' },
  sshca: { path: '/ssh_certificate_authorities', title: 'SSH certificate authorities' },
  usr: { path: '', title: 'users' },
  bot: { path: '', title: 'bots' },
};

/** The path of something that this interface cannot create, relative to the base URL. */
export function toExternalPath(id: string): string {
  return `${EXTERNALS[toPrefix(id)]?.path ?? ''}/${encodeURIComponent(id)}`;
}

/** What several of the type are called that an id is of, where this interface only refers to it: `IP policies`. */
export function findExternalTitle(id: string): string | undefined {
  return EXTERNALS[toPrefix(id)]?.title;
}

function toSegment(kind: Kind, name: string, ids: Spec): string {
  const id = ids[name];
  if (id === ID_PLACEHOLDER) return id;
  if (!isId(id)) throw new InvariantError(`${kind.name}: ${JSON.stringify(id)} cannot stand for ${name} in a path`);
  return encodeURIComponent(id);
}

/** Modules of something that exists already, each read at its own path. */
export interface Attachment {
  /** Of the manifest that attaches them. */
  readonly address: Address;
  readonly kind: Kind;
  /** The ids in the kind's path. */
  readonly ids: Spec;
  /** Names of the module fields to read. */
  readonly modules: readonly string[];
}

/** What an attachment is made from. */
interface AttachmentSource {
  readonly address: Address;
  /** Has the ids. */
  readonly spec: Spec;
  /** Whether a module is to be read; left out: all are. */
  readonly isRead?: (module: string) => boolean;
}

/** The modules of an attached kind that are to be read. */
export function createAttachmentPaths(
  kind: Kind,
  { address, spec, isRead = () => true }: AttachmentSource,
): Attachment {
  const ids = Object.fromEntries(listPathFields(kind).map((name) => [name, spec[name] ?? null]));
  const modules = kind.specFields.flatMap(([name, field]) => (isModule(field) && isRead(name) ? [name] : []));
  return { address, kind, ids, modules };
}
