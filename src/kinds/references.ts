import { isAddress } from '../model/address.ts';
import { assertDefined } from '../model/errors.ts';
import type { Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { FieldType, ReferenceType } from './field.ts';
import type { Kind } from './kind.ts';
import { isIdOf } from './paths.ts';
import { KINDS, MANIFEST_KINDS, OWNED_KINDS } from './tables/registry.ts';
import { listSelfAndNestedTypes, mapDirectMembers, mapPresentFields } from './walk.ts';

/** A position in a spec that contains the id or the address of another resource. */
export interface Reference {
  readonly path: FieldPath;
  readonly value: string;
  readonly type: ReferenceType;
}

type Replace = (reference: Reference) => string;

/** Lists the references in a spec, in the order of the kind's table. Skips values of the wrong type. */
export function listReferences(kind: Kind, spec: Spec): readonly Reference[] {
  const found: Reference[] = [];
  mapReferences(kind, spec, (reference) => {
    found.push(reference);
    return reference.value;
  });
  return found;
}

/** Replaces each reference in a spec, or in a part of a spec. */
export function mapReferences(kind: Kind, spec: Spec, replace: Replace): Spec {
  return mapPresentFields(kind.referenceFields, spec, (type, value, name) =>
    mapReferencesInValue(type, value, [name], replace),
  );
}

/** Like `mapReferences`, for a value of any type. */
export function mapReferencesIn(type: FieldType, value: Json, replace: Replace): Json {
  return mapReferencesInValue(type, value, [], replace);
}

/** Replaces each address in a spec by its id. Throws `InvariantError` if an id is not known. */
export function resolveSpecReferences(kind: Kind, spec: Spec, ids: ReadonlyMap<string, string>): Spec {
  return mapReferences(kind, spec, ({ value }) =>
    isAddress(value) ? assertDefined(ids.get(value), `id of ${value}`) : value,
  );
}

/** Lists the manifest kinds that a reference of this type may refer to, except `External`. */
export function listKindsOfReferenceType(type: ReferenceType): readonly Kind[] {
  return MANIFEST_KINDS.filter(({ idPrefix }) => type.prefixes.includes(idPrefix));
}

/**
 * Kinds of other products whose resources edgewise refers to by id, and does not manage. For those who write a manifest of
 * such a kind.
 */
const UNMANAGED_KINDS: Readonly<Record<string, string>> = {
  IPPolicy: 'ipp',
  IPPolicyRule: 'ipp',
  IPRule: 'ipp',
  CertificateAuthority: 'ca',
  SSHCertificateAuthority: 'sshca',
  HTTPResponseBackend: 'bkdhr',
  TunnelGroupBackend: 'bkdtg',
  User: 'usr',
  BotUser: 'usr',
};

/** Returns the id prefix of a kind that edgewise only refers to. Ignores case and plural. */
export function findPrefixOfUnmanagedKind(kind: string): string | undefined {
  const form = kind
    .toLowerCase()
    .replace(/(?:ies|y)$/, 'y')
    .replace(/s$/, '');
  return Object.entries(UNMANAGED_KINDS).find(([name]) => name.toLowerCase() === form)?.[1];
}

/** Every id prefix that a kind has or refers to, without the underscore. */
export function listAllIdPrefixes(): readonly string[] {
  const prefixes = KINDS.flatMap(({ idPrefix, fields }) => [
    idPrefix,
    ...Object.values(fields).flatMap(({ type }) => listPrefixesOf(type)),
  ]);
  return [...new Set(prefixes)].sort();
}

/** Whether other resources can refer to a resource of this kind and so prevent its deletion. */
export function isReferable({ idPrefix }: Kind): boolean {
  return KINDS.some(({ fields }) => Object.values(fields).some(({ type }) => listPrefixesOf(type).includes(idPrefix)));
}

/** The kind of a resource that a stack can own, by its id. `undefined`: no such kind has ids like this. */
export function findOwnedKindOfId(id: string): Kind | undefined {
  return OWNED_KINDS.find(({ idPrefix }) => isIdOf({ prefixes: [idPrefix] }, id));
}

function listPrefixesOf(type: FieldType): readonly string[] {
  return listSelfAndNestedTypes(type).flatMap((inner) => (inner.type === 'reference' ? inner.prefixes : []));
}

function mapReferencesInValue(type: FieldType, value: Json, path: FieldPath, replace: Replace): Json {
  if (type.type === 'reference') return typeof value === 'string' ? replace({ path, value, type }) : value;
  return mapDirectMembers(type, value, {
    visit: (inner, member, at) => mapReferencesInValue(inner, member, [...path, ...at], replace),
    visitFields: ({ fields }, object) =>
      mapPresentFields(Object.entries(fields), object, (inner, member, name) =>
        mapReferencesInValue(inner, member, [...path, name], replace),
      ),
    visitKey: ({ keys }, key) =>
      keys.type === 'reference' ? replace({ path: [...path, key], value: key, type: keys }) : key,
  });
}
