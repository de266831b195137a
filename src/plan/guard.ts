import { toBaseAddress } from '../model/change.ts';
import type { GuardViolation, Plan } from '../model/plan.ts';
import type { GuardSettings } from '../model/stack.ts';
import type { Decision } from './decide.ts';

/** What the guard looks at. */
export interface GuardInput {
  readonly decisions: readonly Decision[];
  readonly settings: GuardSettings;
  readonly mode: Plan['mode'];
  readonly isTargeted: boolean;
}

/** What flags allow. */
export interface Allowances {
  readonly deletes: boolean;
  /** Addresses whose protection may be overridden. */
  readonly protected: readonly string[];
}

/** The safety rules that a plan breaks: protection always; how much it deletes, unless it was made to delete. */
export function guardPlan(input: GuardInput): readonly GuardViolation[] {
  const protect = listProtected(input);
  if (input.mode === 'destroy') return protect;
  return [...protect, ...listDeleteAll(input), ...listDeleteShare(input)];
}

/** The violations that the flags given do not allow. */
export function listStanding(violations: readonly GuardViolation[], allowances: Allowances): readonly GuardViolation[] {
  return violations.flatMap((violation) => {
    if (violation.rule !== 'protect') return allowances.deletes ? [] : [violation];
    const addresses = violation.addresses.filter((address) => !allowances.protected.includes(address));
    return addresses.length === 0 ? [] : [{ ...violation, addresses }];
  });
}

function listProtected({ decisions, mode }: GuardInput): readonly GuardViolation[] {
  return decisions.filter(isProtectedRemoval).map(({ pair, action }) => {
    const address = toBaseAddress(pair.address);
    const remedy = action === 'replace' ? BEFORE_REPLACE : mode === 'destroy' ? BEFORE_DESTROY : BEFORE_DELETE;
    return {
      rule: 'protect',
      message: `${pair.address} is protected, and this plan would ${action} it.`,
      remedy: `${remedy} and apply that first, or allow it with --allow-protected ${address}.`,
      addresses: [address],
    };
  });
}

const BEFORE_REPLACE = 'Take back what forces the replacement, set lifecycle.protect: false';
const BEFORE_DESTROY = 'Set lifecycle.protect: false in its manifest';
const BEFORE_DELETE = 'Put its manifest back, with lifecycle.protect: false,';

function isProtectedRemoval({ pair, action }: Decision): boolean {
  const isProtected = pair.live?.mark?.protect === true || pair.desired?.lifecycle.protect === true;
  return isProtected && (action === 'delete' || action === 'replace');
}

function listDeleteAll({ decisions, isTargeted }: GuardInput): readonly GuardViolation[] {
  const owned = decisions.filter(({ pair }) => pair.kind.role === 'owned');
  if (isTargeted || owned.length === 0 || owned.some(({ pair }) => pair.desired !== undefined)) return [];
  return [
    {
      rule: 'delete-all',
      message: `The manifests describe no resource, and the stack owns ${owned.length}: this plan would delete all of them.`,
      remedy: 'If that is meant, use --allow-deletes, or edgewise destroy. If not, check the paths that were given.',
      addresses: owned.map(({ pair }) => pair.address),
    },
  ];
}

function listDeleteShare({ decisions, settings }: GuardInput): readonly GuardViolation[] {
  const byKind = Map.groupBy(
    decisions.filter(({ pair }) => pair.live?.mark !== undefined),
    ({ pair }) => pair.kind.name,
  );
  return [...byKind].flatMap(([kind, owned]): GuardViolation[] => {
    const deletes = owned.filter(({ action }) => action === 'delete');
    const share = deletes.length / owned.length;
    if (deletes.length <= settings.maxDeletes || share <= settings.maxDeleteShare) return [];
    const percent = (part: number) => `${Math.round(part * 100)} %`;
    return [
      {
        rule: 'delete-share',
        message: `This plan would delete ${deletes.length} of ${owned.length} ${kind} (${percent(share)}). More than ${settings.maxDeletes} that are also over ${percent(settings.maxDeleteShare)} need consent.`,
        remedy: 'If that is meant, use --allow-deletes. The limits are spec.guard in the Stack.',
        addresses: deletes.map(({ pair }) => pair.address),
      },
    ];
  });
}
