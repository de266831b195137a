import { getKind } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { type Action, type Change, formatAction, formatChangeAddress, isProtected } from '../model/change.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import type { GuardSettings } from '../model/stack.ts';
import type { LiveState } from '../model/state.ts';

export interface GuardInput {
  readonly changes: readonly Change[];
  /** Number of resources that the stack owns, by kind. Includes resources outside the targets. */
  readonly owned: ReadonlyMap<string, number>;
  readonly settings: GuardSettings;
  readonly stack: string;
  readonly mode: Plan['mode'];
  readonly isTargeted: boolean;
}

export function countOwnedByKind(live: LiveState, stack: string): ReadonlyMap<string, number> {
  return new Map(
    [...live.resources].map(([kind, all]) => [kind, all.filter(({ mark }) => mark?.stack === stack).length]),
  );
}

/** The violations that the user allows with flags. */
export interface Allowances {
  readonly deletes: boolean;
  /** Addresses whose protection may be overridden (`--allow-protected`). */
  readonly protected: readonly string[];
  /** Addresses whose writes are sent although the rehearsal predicts that they are rejected (`--allow-rejected`). */
  readonly rejected: readonly string[];
}

/** Returns the safety rules that a plan breaks. The limits on deletes do not apply to a plan to destroy. */
export function listGuardAndProtectionViolations(input: GuardInput): readonly SafetyViolation[] {
  const protect = listProtected(input);
  if (input.mode === 'destroy') return protect;
  return [...protect, ...listNothingDescribed(input), ...listDeleteShare(input)];
}

/** Returns the violations that the given flags do not allow. No flag allows a violated policy. */
export function listBlockingViolations(
  violations: readonly SafetyViolation[],
  allowances: Allowances,
): readonly SafetyViolation[] {
  return violations.flatMap((violation) => {
    if (violation.rule === 'policy') return [violation];
    if (violation.rule === 'delete-share' || violation.rule === 'nothing-described')
      return allowances.deletes ? [] : [violation];
    const consent = CONSENTS[violation.rule];
    const allowed = allowances[consent.allowance];
    const addresses = violation.addresses.filter((address) => !allowed.includes(address));
    return addresses.length === 0 ? [] : [withMisspelt({ ...violation, addresses }, { ...consent, allowed })];
  });
}

/** Flags that allow a violation for single addresses. */
const CONSENTS = {
  protect: { flag: '--allow-protected', allowance: 'protected' },
  'rejected-write': { flag: '--allow-rejected', allowance: 'rejected' },
} as const;

/** Extends the remedy if an address in the flag resembles an address of the violation and is probably misspelled. */
function withMisspelt(
  violation: SafetyViolation,
  { flag, allowed }: { readonly flag: string; readonly allowed: readonly string[] },
): SafetyViolation {
  const nearest = violation.addresses
    .map((address) => suggestAddress(address, allowed))
    .find((near) => near !== undefined);
  if (nearest === undefined) return violation;
  return { ...violation, remedy: `${violation.remedy} ${flag} names ${nearest}, which is another resource.` };
}

/**
 * Protection applies to an address. Duplicates may be deleted as long as one resource with the address stays. If none
 * stays, the rule is broken even if only one of them is protected.
 */
function listProtected({ changes, mode }: GuardInput): readonly SafetyViolation[] {
  const names = new Set(changes.filter(isProtected).map(({ address }) => address));
  const removals = changes.filter(
    ({ address, action, duplicateOf }) => names.has(address) && duplicateOf === undefined && REMOVALS.has(action),
  );
  return removals.map(({ address, action }) => {
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
 * Returns a violation if a plan deletes although the manifests describe no resource that the stack owns: the manifests
 * probably belong to another stack. Resources to adopt do not count, because they are not owned yet. The rule does not
 * apply with targets: they name the deleted resources, and described resources may be of kinds that were not read.
 */
function listNothingDescribed({ changes, stack, isTargeted }: GuardInput): readonly SafetyViolation[] {
  const owned = changes.filter(({ kind }) => getKind(kind).role === 'owned');
  const deleted = owned.filter(({ action }) => action === 'delete');
  if (isTargeted || deleted.length === 0 || owned.some(({ action }) => DESCRIBED.has(action))) return [];
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
const DESCRIBED: ReadonlySet<Action> = new Set(['update', 'replace', 'no-op']);

function listDeleteShare({ changes, owned, settings }: GuardInput): readonly SafetyViolation[] {
  const deletes = Map.groupBy(
    changes.filter(({ action }) => action === 'delete'),
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
