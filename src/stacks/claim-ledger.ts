import { cutAlike, toMore } from '../manifest/cut.ts';
import type { Diagnostic, SourcePlace } from '../model/diagnostic.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import type { Surroundings } from '../stack/surroundings.ts';
import { type ClaimSource, listStackClaims, type StackClaim } from './list-stack-claims.ts';

/**
 * What the stacks of one run claim, though only one of them may have it. The service would refuse the second, or both would take it from each
 * other. Only keys are kept, so that manifests can go; those of stacks that exclude each other are read again to say where they do.
 */
export interface ClaimLedger {
  /** Takes the claims of a stack. `account` is equal for stacks of one account. */
  readonly note: (folder: StackFolder, account: unknown, claims: readonly Pick<StackClaim, 'key' | 'range'>[]) => void;
  /** For each stack that claims what another one claims too: what, and all who do. */
  readonly listRivals: () => Rivals;
}

/** Stacks that exclude each other. */
export type Rivals = ReadonlyMap<StackFolder, readonly Contested[]>;

/** A claim that several stacks make. */
export interface Contested extends Pick<StackClaim, 'key' | 'range'> {
  readonly claimants: readonly StackFolder[];
}

/** A ledger without claims. */
export function createClaimLedger(): ClaimLedger {
  const ranges = new Map<unknown, Map<string, readonly StackFolder[]>>();
  return {
    note: (folder, account, claims) => {
      for (const { key, range } of claims) {
        const scope = range === 'files' ? range : account;
        const known = ranges.get(scope) ?? new Map<string, readonly StackFolder[]>();
        ranges.set(scope, known);
        const claimants = known.get(key) ?? [];
        if (!claimants.includes(folder)) known.set(key, [...claimants, folder]);
      }
    },
    listRivals: () => {
      const rivals = new Map<StackFolder, Contested[]>();
      for (const [scope, known] of ranges) {
        const range = scope === 'files' ? scope : 'account';
        for (const [key, claimants] of known)
          for (const folder of claimants.length > 1 ? claimants : []) {
            const contested = rivals.get(folder) ?? [];
            contested.push({ key, range, claimants });
            rivals.set(folder, contested);
          }
      }
      return rivals;
    },
  };
}

/** Reads the manifests of a stack; `undefined`: they are not valid any more. */
export type ReadClaims = (folder: StackFolder) => Promise<ClaimSource | undefined>;

/** For each stack, an error at each of its claims that another stack of the run makes too. Errors name the place of the other claim. */
export async function describeRivals(
  rivals: Rivals,
  read: ReadClaims,
  context: Pick<Surroundings, 'cwd'>,
): Promise<ReadonlyMap<StackFolder, readonly Diagnostic[]>> {
  const found = new Map<StackFolder, ReadonlyMap<string, LocatedClaim>>();
  for (const [folder, contested] of rivals) {
    const { told } = cut(contested);
    found.set(folder, locateClaims(told, await read(folder), context));
  }
  return new Map(
    [...rivals].map(([folder, contested]) => {
      const { told, more } = cut(contested);
      const rest = more.map(({ count }) => toError(toMore(CODE, count)));
      return [folder, [...told.flatMap((one) => toErrors(folder, one, found)), ...rest]];
    }),
  );
}

const CODE = 'duplicate-claim';

function cut(contested: readonly Contested[]) {
  return cutAlike(contested.map((one) => ({ ...one, code: CODE }) as const));
}

function toError(more: Omit<Diagnostic, 'code' | 'severity'>): Diagnostic {
  return { code: CODE, severity: 'error', ...more };
}

interface LocatedClaim extends StackClaim {
  readonly place: SourcePlace;
}

function locateClaims(
  contested: readonly Contested[],
  source: ClaimSource | undefined,
  context: Pick<Surroundings, 'cwd'>,
): ReadonlyMap<string, LocatedClaim> {
  if (source === undefined) return new Map();
  const keys = new Set(contested.map(toText));
  const claims = listStackClaims(source, context).filter((claim) => keys.has(toText(claim)));
  return new Map(
    claims.flatMap((claim) => {
      const place = source.state.resources.get(claim.address)?.locate(claim.path);
      return place === undefined ? [] : [[toText(claim), { ...claim, place }] as const];
    }),
  );
}

function toText({ range, key }: Pick<StackClaim, 'key' | 'range'>): string {
  return `${range} ${key}`;
}

/** The other stacks that one error names. */
const MAX_NAMED = 3;

function toErrors(
  folder: StackFolder,
  contested: Contested,
  found: ReadonlyMap<StackFolder, ReadonlyMap<string, LocatedClaim>>,
): readonly Diagnostic[] {
  const find = (one: StackFolder): LocatedClaim | undefined => found.get(one)?.get(toText(contested));
  const own = find(folder);
  if (own === undefined) return [];
  const all = contested.claimants.filter((one) => one !== folder);
  const others = all.slice(0, MAX_NAMED);
  const more = all.length > others.length ? [`${all.length - others.length} more`] : [];
  const names = [...others.map((other) => describeOther(other, find(other))), ...more].join(', ');
  return [
    toError({
      message: `${own.address}: ${own.said}, and so ${all.length === 1 ? 'does' : 'do'} ${names}`,
      remedy: own.remedy,
      address: own.address,
      place: own.place,
      related: others.flatMap((other) => {
        const place = find(other)?.place;
        return place === undefined ? [] : [{ message: `the stack ${other.name} has it here`, place }];
      }),
    }),
  ];
}

function describeOther({ name, file }: StackFolder, claim: LocatedClaim | undefined): string {
  if (claim === undefined) return `the stack ${name} (${file})`;
  const { address, place } = claim;
  return `${address} of the stack ${name} (${place.file}:${place.line})`;
}
