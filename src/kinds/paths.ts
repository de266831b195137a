import { type Address, LONGEST_NAME } from '../model/address.ts';
import { InvariantError } from '../model/errors.ts';
import type { Mark } from '../model/mark.ts';
import type { Spec } from '../model/state.ts';
import type { PathIds } from '../model/write.ts';
import type { ReferenceType } from './field.ts';
import { isModule, isRotatable, type Kind } from './kind.ts';

/**
 * An id is a prefix for the type of resource, an underscore, and a text that the service chooses. Ids are used in URLs,
 * file names, command arguments and marks. So that they are safe there, only letters, digits, `_` and `-` are accepted,
 * and the length is limited.
 */

const OWN_TEXT = '[A-Za-z0-9_-]{1,100}';
const ID = new RegExp(`^[a-z]+_${OWN_TEXT}$`);
/** An id in a response may have any prefix, or none. */
const ANY_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,119}$/;

/** Whether a value from the service is a safe id in URLs, file names and command arguments. */
export function isId(text: unknown): text is string {
  return typeof text === 'string' && ANY_ID.test(text);
}

/** The form of ids from the service, in words, for messages. */
export const ID_DESCRIPTION = 'at most 120 letters, digits, `_` and `-`, starting with a letter or digit';

type Prefixes = Pick<ReferenceType, 'prefixes'>;

/** Returns a regular expression, without anchors, for ids with one of the prefixes. */
export function formatIdPattern({ prefixes }: Prefixes): string {
  return `(${prefixes.join('|')})_${OWN_TEXT}`;
}

/** Whether a text has the form of an id, with any prefix. */
export function isWellFormedId(text: string): boolean {
  return ID.test(text);
}

export function isIdOf({ prefixes }: Prefixes, text: string): boolean {
  return isWellFormedId(text) && prefixes.includes(toPrefix(text));
}

/** Describes the expected ids: `bkdhr_… or bkdtg_…`. */
export function describeIdPrefixes({ prefixes }: Prefixes): string {
  return prefixes.map((prefix) => `${prefix}_…`).join(' or ');
}

/**
 * Returns why a text with an expected prefix is not an id, as a clause that follows the path. `undefined` if the text
 * is an id or has another prefix.
 */
export function describeMalformedId(expected: Prefixes, text: string): string | undefined {
  const prefix = toPrefix(text);
  if (!expected.prefixes.includes(prefix) || isIdOf(expected, text)) return undefined;
  return `\`${text}\` is not an id: \`${prefix}_\` is followed by 1 to 100 letters, digits, \`_\` and \`-\``;
}

function toPrefix(text: string): string {
  return text.slice(0, Math.max(text.indexOf('_'), 0));
}

/** The placeholder in a path for an id that is known only after apply. */
export const UNKNOWN_ID_PLACEHOLDER = '{id}';

/** Returns the path of a resource, relative to the base URL. `ids` has `id` and, for attached kinds, parents' ids. */
export function toResourcePath(kind: Kind, ids: Spec): string {
  // The usual case needs no template.
  if (kind.role !== 'attached') return `${kind.path}/${encodeId(kind, 'id', ids)}`;
  return getResourcePathTemplate(kind).replace(/\{(\w+)\}/g, (_, name: string) => encodeId(kind, name, ids));
}

/** Returns the path of one resource with `{id}` and the names of parents' ids as placeholders. */
export function getResourcePathTemplate(kind: Kind): string {
  return kind.role === 'attached' ? kind.path : `${kind.path}/{id}`;
}

/** Lists the names of the ids in the path of a resource, parents first. For attached kinds, they are spec fields. */
export function listPathIdNamesOfKind(kind: Kind): readonly string[] {
  return listPathParameters(getResourcePathTemplate(kind));
}

/** Returns the ids in the path of one resource: `id` and, for attached kinds, the ids in `spec`. */
export function getPathIdsOfResource(
  kind: Kind,
  { id, spec = {} }: { readonly id: string; readonly spec?: Spec | undefined },
): PathIds {
  const ids = listPathIdNamesOfKind(kind).map((name) => [name, name === 'id' ? id : String(spec[name])] as const);
  return { ...Object.fromEntries(ids), id };
}

/** Lists the names in the braces of a path. */
export function listPathParameters(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
}

export function toModulePath(kind: Kind, ids: Spec, module: string): string {
  return `${toResourcePath(kind, ids)}/${module}`;
}

/** The resource types without operations to which the API refers, by id prefix. `title` is a plural for people. */
const EXTERNALS: Readonly<Record<string, { readonly path: string; readonly title: string }>> = {
  ipp: { path: '/ip_policies', title: 'IP policies' },
  bkdhr: { path: '/backends/http_response', title: 'HTTP-response backends' },
  bkdtg: { path: '/backends/tunnel_group', title: 'tunnel-group backends' },
  ca: { path: '/certificate_authorities', title: 'certificate authorities' },
  sshca: { path: '/ssh_certificate_authorities', title: 'SSH certificate authorities' },
  usr: { path: '', title: 'users' },
  bot: { path: '', title: 'bots' },
};

/** Returns the path of a resource whose type is in `EXTERNALS`, relative to the base URL. */
export function toExternalResourcePath(id: string): string {
  return `${EXTERNALS[toPrefix(id)]?.path ?? ''}/${encodeURIComponent(id)}`;
}

/** Returns the plural display name of an id's type, such as `IP policies`. `undefined` if it is not in `EXTERNALS`. */
export function findExternalTypeTitle(id: string): string | undefined {
  return EXTERNALS[toPrefix(id)]?.title;
}

function encodeId(kind: Kind, name: string, ids: Spec): string {
  const id = ids[name];
  if (id === UNKNOWN_ID_PLACEHOLDER) return id;
  if (!isId(id)) throw new InvariantError(`${kind.name}: ${JSON.stringify(id)} cannot stand for ${name} in a path`);
  return encodeURIComponent(id);
}

/** Modules of an existing resource, each read at its own path. */
export interface AttachedModulesToRead {
  /** Address of the manifest that attaches the modules. */
  readonly address: Address;
  readonly kind: Kind;
  /** The ids in the path of the resource, by name. */
  readonly ids: Spec;
  readonly modules: readonly string[];
}

interface AttachmentSource {
  readonly address: Address;
  /** A spec that contains the ids in the path of the resource. */
  readonly spec: Spec;
  /** Whether to read a module. If absent, all modules are read. */
  readonly isRead?: (module: string) => boolean;
}

export function selectModulesOfAttachedResource(
  kind: Kind,
  { address, spec, isRead = () => true }: AttachmentSource,
): AttachedModulesToRead {
  const ids = Object.fromEntries(listPathIdNamesOfKind(kind).map((name) => [name, spec[name] ?? null]));
  const modules = kind.specFields.flatMap(([name, field]) => (isModule(field) && isRead(name) ? [name] : []));
  return { address, kind, ids, modules };
}

/** The random part of an id usually has this length: 27 characters of base62. */
const ID_LENGTH = 27;

/** What a mark may contain later, as placeholders of the greatest length. */
export function createLongestMarkReferences(kind: Kind): Pick<Mark, 'id' | 'retires' | 'former' | 'adopted'> {
  const id = `${kind.idPrefix}_${'x'.repeat(ID_LENGTH)}`;
  const former = { name: LONGEST_NAME, stack: LONGEST_NAME };
  return { id, former, adopted: true, ...(isRotatable(kind) && { retires: { id, at: '9999-12-31T23:59:59Z' } }) };
}
