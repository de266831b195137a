import { join, resolve } from 'node:path';
import { isTokenFileOfId, toTokenFileName } from '../apply/token-sinks.ts';
import { listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { describeOmittedDiagnostics, limitDiagnosticsPerCode } from '../manifest/bounded-yaml.ts';
import { type Address, isAddress, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { Place } from '../model/place.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';
import type { Host } from '../stack/host.ts';

/**
 * Collects the unique values that the stacks of a run claim, and finds values that several stacks claim: the service
 * would reject the second claim, or the stacks would keep taking the value from each other.
 */
export class ClaimRegistry {
  readonly #ranges = new Map<unknown, Map<string, readonly Claimant[]>>();

  /** Adds the claims of a stack. `account`: any value that is equal for stacks of one account. */
  add(folder: StackFolder, account: unknown, claims: readonly StackClaim[]): void {
    for (const claim of claims) {
      const scope = claim.range === 'files' ? claim.range : account;
      const known = this.#ranges.get(scope) ?? new Map<string, readonly Claimant[]>();
      this.#ranges.set(scope, known);
      const claimants = known.get(claim.key) ?? [];
      if (claimants.every((one) => one.folder !== folder)) known.set(claim.key, [...claimants, { folder, claim }]);
    }
  }

  /**
   * Maps each stack with conflicts to its errors. An error has the position of the stack's claim, and names the
   * positions of the other stacks' claims.
   */
  listConflicts(): ReadonlyMap<StackFolder, readonly Diagnostic[]> {
    const values = [...this.#ranges.values()].flatMap((known) => [...known.values()]);
    const conflicts = values.filter((claimants) => claimants.length > 1).flatMap(listClaimErrors);
    const byFolder = Map.groupBy(conflicts, ({ folder }) => folder);
    return new Map(Array.from(byFolder, ([folder, found]) => [folder, limitErrors(found)]));
  }
}

/** A stack, and its claim on a value. */
interface Claimant {
  readonly folder: StackFolder;
  readonly claim: StackClaim;
}

const CODE = 'duplicate-claim';

function limitErrors(found: readonly { readonly error: Diagnostic }[]): readonly Diagnostic[] {
  const { shown, more } = limitDiagnosticsPerCode(found.map(({ error }) => error));
  return [...shown, ...more.map(({ count }) => createClaimError(describeOmittedDiagnostics(CODE, count)))];
}

function createClaimError(more: Omit<Diagnostic, 'code' | 'severity'>): Diagnostic {
  return { code: CODE, severity: 'error', ...more };
}

/** The maximum number of other stacks that an error names, so that it stays one sentence. */
const MAX_NAMED = 3;

/** Lists an error for each stack that claims the same value. */
function listClaimErrors(
  claimants: readonly Claimant[],
): readonly { readonly folder: StackFolder; readonly error: Diagnostic }[] {
  return claimants.map((own) => ({
    folder: own.folder,
    error: describeConflict(
      own,
      claimants.filter((one) => one !== own),
    ),
  }));
}

function describeConflict({ claim }: Claimant, all: readonly Claimant[]): Diagnostic {
  const others = all.slice(0, MAX_NAMED);
  const more = all.length > others.length ? [`${all.length - others.length} more`] : [];
  const names = [...others.map(describeOther), ...more].join(', ');
  return createClaimError({
    message: `${claim.address}: ${claim.said}, and so ${all.length === 1 ? 'does' : 'do'} ${names}`,
    remedy: claim.remedy,
    address: claim.address,
    place: claim.locate(),
    related: others.map((other) => ({
      message: `the stack ${other.folder.name} claims it here`,
      place: other.claim.locate(),
    })),
  });
}

function describeOther({ folder, claim }: Claimant): string {
  const { file, line } = claim.locate();
  return `${claim.address} of the stack ${folder.name} (${file}:${line})`;
}

/** A unique value that a manifest claims: at most one resource of the run may have it. */
export interface StackClaim {
  /** Identifies the value within its range. */
  readonly key: string;
  /** Where the value must be unique: in an account, or among the files that the whole run writes. */
  readonly range: 'account' | 'files';
  readonly address: Address;
  /** Returns the position of the claim in the manifests. */
  readonly locate: () => Place;
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
      ...listClaimedValues(resource, kind),
      ...listTakeOvers(resource, kind),
      ...listTokenFiles(resource, kind, { tokens, cwd, stack: state.stack.name }),
    ];
  });
}

const REMOVE =
  'Remove it from one of them. A resource that moves to another stack is described there only, with lifecycle.renamed_from: { stack: OLD, name: NAME }.';

function listClaimedValues({ address, spec, locate }: DesiredResource, kind: Kind): readonly StackClaim[] {
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
    return { key, range: 'account', address, locate: () => locate(place), said, remedy };
  });
}

/** Lists claims on existing resources, because only one manifest can adopt or take over a resource. */
function listTakeOvers(
  { address, lifecycle: { adopt, takenFrom }, locate }: DesiredResource,
  kind: Kind,
): readonly StackClaim[] {
  const take = (name: string, what: string): StackClaim => {
    const path = ['lifecycle', name];
    const key = `${kind.name} ${name} ${what}`;
    const said = `lifecycle.${name} claims ${what}`;
    return { key, range: 'account', address, locate: () => locate(path), said, remedy: 'Remove it from one of them.' };
  };
  const former = takenFrom && `${toAddress(kind.name, takenFrom.name)} of the stack ${takenFrom.stack}`;
  return [
    ...(adopt === undefined ? [] : [take('adopt', adopt)]),
    ...(former === undefined ? [] : [take('renamed_from', former)]),
  ];
}

function listTokenFiles(
  { address, name, locate }: DesiredResource,
  kind: Kind,
  { tokens, cwd, stack }: { readonly tokens: TokenSettings; readonly cwd: string; readonly stack: string },
): readonly StackClaim[] {
  if (kind.oneTimeFields.length === 0) return [];
  const sink = Object.hasOwn(tokens.credentials, name) ? tokens.credentials[name] : tokens.default;
  if (sink === undefined || !('directory' in sink) || isTokenFileOfId(sink.file)) return [];
  const file = join(sink.directory, toTokenFileName({ name, id: '', stack }, sink.file));
  const said = `its token goes to ${file}`;
  const remedy = 'Give each stack a folder of its own, such as spec.tokens.default.directory: tokens/{stack}.';
  return [
    { key: resolve(cwd, file), range: 'files', address, locate: () => locate(['metadata', 'name']), said, remedy },
  ];
}
