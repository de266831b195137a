import { getKind } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import {
  type Action,
  type Change,
  formatAction,
  formatChangeAddress,
  isProtected,
  isRecordInChange,
  isRetirement,
} from '../model/change.ts';
import { isJsonArray } from '../model/json.ts';
import { isRetiring } from '../model/mark.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { MissingManifests, Plan, SafetyViolation } from '../model/plan.ts';
import type { GuardSettings } from '../model/stack.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import { CONSENT_OPTIONS, type Consents, getRequestFlag } from '../settings/request.ts';

export interface GuardInput {
  readonly changes: readonly Change[];
  /** Number of resources that the stack owns, by kind. Includes resources outside the targets. */
  readonly owned: ReadonlyMap<string, number>;
  readonly settings: GuardSettings;
  readonly stack: string;
  readonly mode: Plan['mode'];
  readonly isTargeted: boolean;
  /** Manifests that are not there, although git has them. Absent: none is known to be missing. */
  readonly missing?: MissingManifests | undefined;
  /** Whether `--exclude` leaves out an owned resource that the manifests describe. Default: false. */
  readonly leavesOutDescribed?: boolean;
}

export function countOwnedByKind(live: LiveState, stack: string): ReadonlyMap<string, number> {
  const isCounted = (one: LiveResource) => isOwnedBy(one, stack) && !isRetiring(one);
  return new Map([...live.resources].map(([kind, all]) => [kind, all.filter(isCounted).length]));
}

/** Returns the safety rules that a plan breaks. The limits on deletes do not apply to a plan to destroy. */
export function listGuardAndProtectionViolations(input: GuardInput): readonly SafetyViolation[] {
  const protect = listProtected(input);
  if (input.mode === 'destroy') return protect;
  return [...protect, ...listMissingManifests(input), ...listNothingDescribed(input), ...listDeleteShare(input)];
}

/**
 * Returns the violations without consent, by the table of options. None allows a violated policy, or an exchange of values.
 * @example
 * const blocking = listBlockingViolations(plan.violations, { allowDeletes: true });
 */
export function listBlockingViolations(
  violations: readonly SafetyViolation[],
  consents: Consents,
): readonly SafetyViolation[] {
  return violations.flatMap((violation) => {
    const consent = CONSENT_OPTIONS.find(({ allows = [] }) => allows.includes(violation.rule));
    const allowed = consent && consents[consent.name];
    if (consent?.value === 'none') return allowed === true ? [] : [violation];
    // A program without types may give another type, which allows nothing.
    if (consent === undefined || !isJsonArray(allowed)) return [violation];
    if (consent.value === 'stack') return allowed.includes(violation.stack ?? '') ? [] : [violation];
    const addresses = violation.addresses.filter((address) => !allowed.includes(address));
    return addresses.length === 0 ? [] : [withMisspelt({ ...violation, addresses }, { name: consent.name, allowed })];
  });
}

/** Extends the remedy if an address in the flag resembles an address of the violation and is probably misspelled. */
function withMisspelt(
  violation: SafetyViolation,
  { name, allowed }: { readonly name: keyof Consents; readonly allowed: readonly string[] },
): SafetyViolation {
  const nearest = violation.addresses
    .map((address) => suggestAddress(address, allowed))
    .find((near) => near !== undefined);
  if (nearest === undefined || getRequestFlag(name) === '') return violation;
  return {
    ...violation,
    remedy: `${violation.remedy} ${getRequestFlag(name)} names ${nearest}, which is another resource.`,
  };
}

/**
 * Protection applies to an address. Duplicates may be deleted as long as one resource with the address stays, and none
 * of them may be the original. If none stays, the rule is broken even if only one of them is protected.
 */
function listProtected({ changes, mode }: GuardInput): readonly SafetyViolation[] {
  const names = new Set(changes.filter(isProtected).map(({ address }) => address));
  const removals = changes.filter(
    (change) =>
      names.has(change.address) &&
      REMOVALS.has(change.action) &&
      (change.duplicateOf === undefined || isProtected(change)),
  );
  return removals.map((change) => {
    const { address, action, duplicateOf } = change;
    if (isRetirement(change))
      return {
        rule: 'protect',
        message: `${formatChangeAddress(change)} is protected, and this plan would delete it, because ${duplicateOf} has replaced it.`,
        remedy: `Check that nothing uses it any more, and allow the delete with --allow-protected ${address}.`,
        addresses: [address],
      };
    if (duplicateOf !== undefined)
      return {
        rule: 'protect',
        message: `${formatChangeAddress(change)} is protected, and this plan would delete it, because ${duplicateOf} has the same mark.`,
        remedy: `A mark can be copied, so find out which of the two is the real one. Remove the mark from the metadata of the other, or allow the delete with --allow-protected ${address}.`,
        addresses: [address],
      };
    const remedy = action === 'replace' ? BEFORE_REPLACE : mode === 'apply' ? BEFORE_DELETE : BEFORE_DESTROY;
    return {
      rule: 'protect',
      message: `${address} is protected, and this plan would ${formatAction(action)} it.`,
      remedy: `${remedy} and apply that first, or allow it with --allow-protected ${address}.`,
      addresses: [address],
    };
  });
}

const BEFORE_REPLACE = 'Undo the change that forces the replacement, set lifecycle.protect: false';
const BEFORE_DESTROY = 'Set lifecycle.protect: false in its manifest';
const BEFORE_DELETE = 'Restore its manifest with lifecycle.protect: false';

const REMOVALS: ReadonlySet<Action> = new Set(['delete', 'replace', 'release']);

/**
 * Returns a violation if a plan deletes resources whose manifests may be missing: git has more manifests than it checked
 * out. Also with targets, because the user may not know that the manifest of a target is missing.
 */
function listMissingManifests({ changes, missing }: GuardInput): readonly SafetyViolation[] {
  const deleted = changes.filter(({ action, duplicateOf }) => action === 'delete' && duplicateOf === undefined);
  if (missing === undefined || deleted.length === 0) return [];
  const { files, doubt } = missing;
  if (files.length === 0 && doubt === undefined) return [];
  const named = files.length === 1 ? `${files[0]} is` : `${files.length} files and folders, such as ${files[0]}, are`;
  const why =
    files.length > 0
      ? `Manifests are missing: ${named} in git, but not checked out.`
      : `Manifests may be missing, because git cannot be asked what it has: ${doubt}`;
  const what = deleted.length === 1 ? '1 resource' : `${deleted.length} resources`;
  return [
    {
      rule: 'manifests-missing',
      message: `${why} This plan would delete ${what}, which a missing manifest may describe.`,
      remedy:
        'Check everything out: git submodule update --init for a submodule, git sparse-checkout disable for a sparse checkout. Rename a file whose name differs from another only in case or in the form of Unicode. If the deletes are intended, use --allow-deletes.',
      addresses: deleted.map(formatChangeAddress),
    },
  ];
}

/**
 * Returns a violation if a plan deletes although the manifests describe no resource that the stack owns: the manifests
 * probably belong to another stack. Resources to adopt do not count, because they are not owned yet, and neither does the
 * delete of a record of a refused creation. The rule does not apply with targets: they name the deleted resources, and
 * described resources may be of kinds that were not read.
 */
function listNothingDescribed({
  changes,
  stack,
  isTargeted,
  leavesOutDescribed = false,
}: GuardInput): readonly SafetyViolation[] {
  const owned = changes.filter(({ kind, retiresAt }) => getKind(kind).role === 'owned' && retiresAt === undefined);
  const deleted = owned.filter(
    ({ action, live }) => action === 'delete' && live !== undefined && !isRecordInChange(live),
  );
  const isDescribed = leavesOutDescribed || owned.some(({ action }) => DESCRIBED.has(action));
  if (isTargeted || deleted.length === 0 || isDescribed) return [];
  const [count, all] = deleted.length === 1 ? ['1 resource', 'it'] : [`${deleted.length} resources`, 'all of them'];
  const texts =
    deleted.length === owned.length
      ? {
          message: `The manifests describe no resource. The stack ${stack} owns ${count}, and this plan would delete ${all}.`,
          remedy: 'If that is intended, use --allow-deletes or edgewise destroy. Otherwise, check the given paths.',
        }
      : {
          message: `The manifests describe nothing that the stack ${stack} owns, so another folder probably uses this stack name. The stack owns ${count}, and this plan would delete ${all}.`,
          remedy:
            'If these manifests describe another stack, give their Stack another metadata.name. If the deletes are intended, use --allow-deletes.',
        };
  return [{ rule: 'nothing-described', ...texts, addresses: deleted.map(formatChangeAddress) }];
}

/** Actions on resources that the stack owns and a manifest describes. */
const DESCRIBED: ReadonlySet<Action> = new Set(['update', 'replace', 'withhold', 'no-op']);

/** The delete of an old resource is the end of a replace, and replaces do not count. */
function listDeleteShare({ changes, owned, settings }: GuardInput): readonly SafetyViolation[] {
  const deletes = Map.groupBy(
    changes.filter((change) => change.action === 'delete' && !isRetirement(change)),
    ({ kind }) => kind,
  );
  return [...deletes].flatMap(([kind, deleted]): SafetyViolation[] => {
    const total = Math.max(owned.get(kind) ?? 0, deleted.length);
    const share = deleted.length / total;
    if (deleted.length <= settings.maxDeletes || share <= settings.maxDeleteShare) return [];
    const percent = (part: number) => `${Math.round(part * 100)} %`;
    return [
      {
        rule: 'delete-share',
        message: `This plan would delete ${deleted.length} of ${total} ${kind} (${percent(share)}). More than ${settings.maxDeletes} deletes of a kind need consent if they are also more than ${percent(settings.maxDeleteShare)} of it.`,
        remedy: 'If that is intended, use --allow-deletes. spec.guard in the Stack sets the limits.',
        addresses: deleted.map(formatChangeAddress),
      },
    ];
  });
}
