import type { Kind } from '../kinds/kind.ts';
import type { Action } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { findRefusedCreation, type Mark, toFieldDigest } from '../model/mark.ts';
import type { DesiredSpecForms } from './desired-form.ts';
import { computeMarkDigests } from './differences.ts';
import type { ResourcePair } from './match.ts';
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

/**
 * Says that the service refused before what a replace asks for. `undefined`: it did not, or the user asks for it again
 * (`--rotate`).
 */
export function describeRefusal(
  { kind, address, desired, live, by }: ResourcePair,
  { normal }: DesiredSpecForms,
  rotate: readonly string[],
): string | undefined {
  const refused = live && findRefusedCreation(live);
  if (refused === undefined || desired === undefined || by !== 'mark' || rotate.includes(address)) return undefined;
  const { fields, pending } = computeMarkDigests(kind, normal, { ignored: desired.lifecycle.ignore, kept: new Map() });
  const asked = computeAskedDigest(kind, fields, findManifestValidForMs(kind, desired));
  if (Object.keys(pending).length > 0 || asked !== refused.asked) return undefined;
  const names = refused.fields.join(' and ');
  return `the last time that an apply created it as the manifest asks, the service stored another ${names}, so nothing was delivered`;
}

interface DecidedPair {
  readonly pair: ResourcePair;
  readonly action: Action;
  readonly reason: string | undefined;
}

/** Warnings on what is not tried again, and on marks whose record of a refused creation does not count. */
export function listRefusalWarnings(decisions: readonly DecidedPair[]): readonly Diagnostic[] {
  return decisions.flatMap(({ action, reason, pair: { address, live, desired } }): readonly Diagnostic[] => {
    const shared = { code: 'creation-withheld', severity: 'warning', address, place: desired?.locate() } as const;
    if (action === 'withhold')
      return [
        {
          ...shared,
          message: `${address} is not replaced: ${reason}`,
          remedy: `Change the manifest, or try again with --rotate ${address}. Everything else is applied.`,
        },
      ];
    if (live?.mark?.refused === undefined || findRefusedCreation(live) !== undefined) return [];
    return [
      {
        ...shared,
        message: `${address}: the mark of ${live.id} says that the service refused a creation, and does not name its own resource, so this does not count`,
        remedy: 'Find out who wrote it. Nothing else depends on it.',
      },
    ];
  });
}
