import type { Kind } from '../kinds/kind.ts';
import { type Mark, toFieldDigest } from '../model/mark.ts';
import type { ClaimConflict } from './claims.ts';
import type { ChangeDecision } from './decide.ts';
import { computeMarkDigests } from './differences.ts';
import { findManifestValidForMs } from './validity.ts';

/**
 * Credentials and certificates that the service did not store as asked. Each try leaves a token or a certificate that
 * stays valid, so the same is asked for again only with consent. The mark of the resource that stays at the address
 * remembers what was asked for.
 */

/** The digest of everything that a manifest asks of a new resource, except for texts that are only for people. */
export function computeAskedDigest(kind: Kind, fields: Mark['fields'], validForMs: number | undefined): string {
  const asked = Object.entries(fields).filter(([name]) => kind.fields[name]?.mayBeSpelledOtherwise !== true);
  return toFieldDigest({ fields: Object.fromEntries(asked), validForMs: validForMs ?? null });
}

/** Lists the replaces that ask for what the service refused before, unless the user asks for them (`--rotate`). */
export function listRefusedCreations(
  decisions: readonly ChangeDecision[],
  rotate: readonly string[],
): readonly ClaimConflict[] {
  return decisions.flatMap(({ action, pair, form }): ClaimConflict[] => {
    const { kind, address, desired, live } = pair;
    const refused = live?.mark?.refused;
    if (action !== 'replace' || refused === undefined || desired === undefined || form === undefined) return [];
    const { ignore: ignored } = desired.lifecycle;
    const { fields, pending } = computeMarkDigests(kind, form.normal, { ignored, kept: new Map() });
    const asked = computeAskedDigest(kind, fields, findManifestValidForMs(kind, desired));
    if (Object.keys(pending).length > 0 || asked !== refused.asked || rotate.includes(address)) return [];
    const names = refused.fields.join(' and ');
    return [
      {
        rule: 'rejected-write',
        address,
        why: `the last time that an apply created it as the manifest asks, the service stored another ${names}, so nothing was delivered`,
        remedy: `Change the manifest, or try again with --rotate ${address}.`,
        place: desired.locate(),
      },
    ];
  });
}
