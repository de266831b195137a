import { hasToken, isRotatable, type Kind } from '../kinds/kind.ts';
import { findRefusedCreation, isRefusalRecord, type Mark, toFieldDigest } from '../model/mark.ts';
import type { LiveResource } from '../model/state.ts';
import type { DesiredSpecForms } from './desired-form.ts';
import { computeMarkDigests } from './differences.ts';
import type { ExistingPair, ResourcePair } from './match.ts';
import { findManifestValidForMs } from './validity.ts';

/**
 * Credentials and certificates that the service did not store as asked. Each try leaves a token or a certificate that
 * stays valid, so the same is asked for again only with consent. The mark of the resource that stays at the address
 * remembers what was asked for. Where there was none, what the service created stays as a record of that, without a
 * delivered token, unless it is a certificate that permits more than was asked for.
 */

/** The digest of everything that a manifest asks of a new resource, except for texts that are only for people. */
export function computeAskedDigest(kind: Kind, fields: Mark['fields'], validForMs: number | undefined): string {
  const asked = Object.entries(fields).filter(([name]) => kind.fields[name]?.mayBeSpelledOtherwise !== true);
  return toFieldDigest({ fields: Object.fromEntries(asked), validForMs: validForMs ?? null });
}

/**
 * Says that the service refused before what a creation or a replace asks for. `undefined`: it did not, or the user asks
 * for it again (`--rotate`).
 */
export function describeRefusedCreation(
  { kind, address, desired, live, by }: ExistingPair,
  { normal }: DesiredSpecForms,
  rotate: readonly string[] = [],
): string | undefined {
  const refused = findRefusedCreation(live);
  if (refused === undefined || by !== 'mark' || rotate.includes(address)) return undefined;
  const { fields, pending } = computeMarkDigests(kind, normal, desired.lifecycle.ignore);
  const asked = computeAskedDigest(kind, fields, findManifestValidForMs(kind, desired));
  if (Object.keys(pending).length > 0 || asked !== refused.asked) return undefined;
  const names = refused.fields.join(' and ');
  const why = `the last time that an apply created it as the manifest asks, the service stored another ${names}, so nothing was delivered`;
  return refused.record === true ? `${why}; ${live.id} only records that` : why;
}

/** What a record of a refused creation is, for the change that deletes it. */
export function describeRecord({ id }: Pick<LiveResource, 'id'>): string {
  return `${id} only records that the service did not store a creation as requested; nothing of it was delivered`;
}

/** Says of a new certificate that nothing will remember if the service stores it otherwise. Empty if a record can. */
export function listUnrecordableNotes({ kind, live }: Pick<ResourcePair, 'kind' | 'live'>): readonly string[] {
  const isRecordable = !isRotatable(kind) || hasToken(kind) || (live !== undefined && !isRefusalRecord(live));
  return isRecordable ? [] : [UNRECORDABLE];
}

const UNRECORDABLE =
  'if it comes back with more than requested, it is deleted: each try issues a certificate, which stays valid';
