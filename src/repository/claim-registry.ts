import { join, resolve } from 'node:path';
import { toTokenFileName } from '../apply/token-sinks.ts';
import { listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { describeOmittedDiagnostics, limitDiagnosticsPerCode } from '../manifest/bounded-yaml.ts';
import { type Address, isAddress, toAddress } from '../model/address.ts';
import type { Diagnostic, SourcePlace } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState, FieldPath } from '../model/state.ts';
import type { Host } from '../stack/host.ts';

/**
 * Collects the unique values that the stacks of a run claim, and finds values that several stacks claim: the service
 * would reject the second claim, or the stacks would keep taking the value from each other. Stores keys only, so that
 * manifests need not stay in memory. The manifests of conflicting stacks are read again to find the positions.
 */
export interface ClaimRegistry {
  /** Adds the claims of a stack. `account`: any value that is equal for stacks of one account. */
  readonly add: (folder: StackFolder, account: unknown, claims: readonly Pick<StackClaim, 'key' | 'range'>[]) => void;
  readonly listConflicts: () => ConflictingStacks;
}

type ConflictingStacks = ReadonlyMap<StackFolder, readonly ClaimConflict[]>;

/** A value that several stacks claim. */
interface ClaimConflict extends Pick<StackClaim, 'key' | 'range'> {
  readonly claimants: readonly StackFolder[];
}

export function createClaimRegistry(): ClaimRegistry {
  const ranges = new Map<unknown, Map<string, readonly StackFolder[]>>();
  return {
    add: (folder, account, claims) => {
      for (const { key, range } of claims) {
        const scope = range === 'files' ? range : account;
        const known = ranges.get(scope) ?? new Map<string, readonly StackFolder[]>();
        ranges.set(scope, known);
        const claimants = known.get(key) ?? [];
        if (!claimants.includes(folder)) known.set(key, [...claimants, folder]);
      }
    },
    listConflicts: () => {
      const conflicts = new Map<StackFolder, ClaimConflict[]>();
      for (const [scope, known] of ranges) {
        const range = scope === 'files' ? scope : 'account';
        for (const [key, claimants] of known)
          for (const folder of claimants.length > 1 ? claimants : []) {
            const claimConflicts = conflicts.get(folder) ?? [];
            claimConflicts.push({ key, range, claimants });
            conflicts.set(folder, claimConflicts);
          }
      }
      return conflicts;
    },
  };
}

/** Reads the manifests of a stack again. Resolves with `undefined` if they are no longer valid. */
export type RereadStackClaims = (folder: StackFolder) => Promise<StackClaimsInput | undefined>;

/**
 * Maps each stack with conflicts to its errors. An error has the position of the stack's claim, and names the positions
 * of the other stacks' claims.
 */
export async function createConflictDiagnosticsByStack(
  conflicts: ConflictingStacks,
  read: RereadStackClaims,
  context: Pick<Host, 'cwd'>,
): Promise<ReadonlyMap<StackFolder, readonly Diagnostic[]>> {
  const found = new Map<StackFolder, ReadonlyMap<string, LocatedClaim>>();
  for (const [folder, claimConflicts] of conflicts) {
    const { shown } = limitConflicts(claimConflicts);
    found.set(folder, locateClaims(shown, await read(folder), context));
  }
  return new Map(
    [...conflicts].map(([folder, claimConflicts]) => {
      const { shown, more } = limitConflicts(claimConflicts);
      const rest = more.map(({ count }) => createError(describeOmittedDiagnostics(CODE, count)));
      return [folder, [...shown.flatMap((one) => listErrors(folder, one, found)), ...rest]];
    }),
  );
}

const CODE = 'duplicate-claim';

function limitConflicts(claimConflicts: readonly ClaimConflict[]) {
  return limitDiagnosticsPerCode(claimConflicts.map((one) => ({ ...one, code: CODE }) as const));
}

function createError(more: Omit<Diagnostic, 'code' | 'severity'>): Diagnostic {
  return { code: CODE, severity: 'error', ...more };
}

interface LocatedClaim extends StackClaim {
  readonly place: SourcePlace;
}

function locateClaims(
  claimConflicts: readonly ClaimConflict[],
  source: StackClaimsInput | undefined,
  context: Pick<Host, 'cwd'>,
): ReadonlyMap<string, LocatedClaim> {
  if (source === undefined) return new Map();
  const keys = new Set(claimConflicts.map(formatKey));
  const claims = listStackClaims(source, context).filter((claim) => keys.has(formatKey(claim)));
  return new Map(
    claims.flatMap((claim) => {
      const place = source.state.resources.get(claim.address)?.locate(claim.path);
      return place === undefined ? [] : [[formatKey(claim), { ...claim, place }] as const];
    }),
  );
}

function formatKey({ range, key }: Pick<StackClaim, 'key' | 'range'>): string {
  return `${range} ${key}`;
}

/** The maximum number of other stacks that an error names, so that it stays one sentence. */
const MAX_NAMED = 3;

function listErrors(
  folder: StackFolder,
  claimConflicts: ClaimConflict,
  found: ReadonlyMap<StackFolder, ReadonlyMap<string, LocatedClaim>>,
): readonly Diagnostic[] {
  const find = (one: StackFolder): LocatedClaim | undefined => found.get(one)?.get(formatKey(claimConflicts));
  const own = find(folder);
  if (own === undefined) return [];
  const all = claimConflicts.claimants.filter((one) => one !== folder);
  const others = all.slice(0, MAX_NAMED);
  const more = all.length > others.length ? [`${all.length - others.length} more`] : [];
  const names = [...others.map((other) => describeOther(other, find(other))), ...more].join(', ');
  return [
    createError({
      message: `${own.address}: ${own.said}, and so ${all.length === 1 ? 'does' : 'do'} ${names}`,
      remedy: own.remedy,
      address: own.address,
      place: own.place,
      related: others.flatMap((other) => {
        const place = find(other)?.place;
        return place === undefined ? [] : [{ message: `the stack ${other.name} claims it here`, place }];
      }),
    }),
  ];
}

function describeOther({ name, file }: StackFolder, claim: LocatedClaim | undefined): string {
  if (claim === undefined) return `the stack ${name} (${file})`;
  const { address, place } = claim;
  return `${address} of the stack ${name} (${place.file}:${place.line})`;
}

/** A unique value that a manifest claims: at most one resource of the run may have it. */
interface StackClaim {
  /** Identifies the value within its range. */
  readonly key: string;
  /** Where the value must be unique: in an account, or among the files that the whole run writes. */
  readonly range: 'account' | 'files';
  readonly address: Address;
  readonly path: FieldPath;
  /** A clause for messages, such as `spec.hostports[0] claims 1.tcp.example.net:20001`. */
  readonly said: string;
  readonly remedy: string;
}

/** The claims of a stack come from its manifests, and from its token sinks: tokens written to files claim the files. */
export interface StackClaimsInput {
  readonly state: DesiredState;
  readonly tokens: TokenSettings;
}

/** Lists the claims of a stack: unique values, adopted resources, resources taken over from other stacks, and files. */
export function listStackClaims(
  { state, tokens }: StackClaimsInput,
  { cwd }: Pick<Host, 'cwd'>,
): readonly StackClaim[] {
  return [...state.resources.values()].flatMap((resource) => {
    const kind = findKind(resource.kind);
    if (kind === undefined) return [];
    return [
      ...listValues(resource, kind),
      ...listTakeOvers(resource, kind),
      ...listWrittenFiles(resource, kind, cwd),
      ...listTokenFiles(resource, kind, { tokens, cwd }),
    ];
  });
}

const REMOVE =
  'Remove it from one of them. A resource that moves to another stack is described there only, with lifecycle.renamed_from: { stack: OLD, name: NAME }.';

function listValues({ address, spec }: DesiredResource, kind: Kind): readonly StackClaim[] {
  // Skips values that are addresses: an address stands for an id that is not known yet, and equal addresses in two
  // stacks are two resources.
  const claims = listClaims(kind, spec).filter(({ given }) => !isAddress(given));
  return claims.map(({ key, path, given }) => {
    const place = ['spec', ...path];
    const isAttachment = kind.role === 'attached';
    const said = isAttachment
      ? `${formatPath(place)} attaches modules to ${given}`
      : `${formatPath(place)} claims ${given}`;
    const remedy = isAttachment ? 'Put the modules into one document.' : REMOVE;
    return { key, range: 'account', address, path: place, said, remedy };
  });
}

/** Lists claims on existing resources, because only one manifest can adopt or take over a resource. */
function listTakeOvers(
  { address, lifecycle: { adopt, takenFrom } }: DesiredResource,
  kind: Kind,
): readonly StackClaim[] {
  const take = (name: string, what: string): StackClaim => {
    const path = ['lifecycle', name];
    const key = `${kind.name} ${name} ${what}`;
    const said = `lifecycle.${name} claims ${what}`;
    return { key, range: 'account', address, path, said, remedy: 'Remove it from one of them.' };
  };
  const former = takenFrom && `${toAddress(kind.name, takenFrom.name)} of the stack ${takenFrom.stack}`;
  return [
    ...(adopt === undefined ? [] : [take('adopt', adopt)]),
    ...(former === undefined ? [] : [take('renamed_from', former)]),
  ];
}

function listWrittenFiles(
  { address, lifecycle: { settings } }: DesiredResource,
  kind: Kind,
  cwd: string,
): readonly StackClaim[] {
  const paths = Object.entries(kind.lifecycle).filter(([, { type }]) => type.type === 'text' && type.isPath);
  return paths.flatMap(([name]): readonly StackClaim[] => {
    const path = settings[name];
    if (typeof path !== 'string') return [];
    const said = `lifecycle.${name} writes to ${path}`;
    const remedy = 'Choose another file for one of them.';
    return [{ key: resolve(cwd, path), range: 'files', address, path: ['lifecycle', name], said, remedy }];
  });
}

function listTokenFiles(
  { address, name }: DesiredResource,
  kind: Kind,
  { tokens, cwd }: { readonly tokens: TokenSettings; readonly cwd: string },
): readonly StackClaim[] {
  if (kind.oneTimeFields.length === 0) return [];
  const sink = Object.hasOwn(tokens.credentials, name) ? tokens.credentials[name] : tokens.default;
  if (sink === undefined || !('directory' in sink)) return [];
  const file = join(sink.directory, toTokenFileName(name));
  const said = `its token goes to ${file}`;
  const remedy = 'Give each stack a folder of its own, such as spec.tokens.default.directory: tokens/{stack}.';
  return [{ key: resolve(cwd, file), range: 'files', address, path: ['metadata', 'name'], said, remedy }];
}
