import type { Action, Change, Difference } from '../../model/change.ts';
import { PART_HEADINGS } from './plan-wording.ts';

/** What is done to a resource that is not left as it is. */
export type ChangeAction = Exclude<Action, 'no-op'>;

/**
 * The changes of a plan, divided by whose they are. `losses`: what is deleted or replaced, whoever wants it. `change`: what the manifests ask for.
 * `drift`: what was changed at the service, and will be as before.
 */
export interface PlanPart<Entry = ChangeShare> {
  readonly part: 'losses' | 'change' | 'drift';
  /** Absent where nothing needs to be told apart. */
  readonly heading?: string;
  /** Deletes first, then replaces, updates, adoptions, creates; never empty. */
  readonly changes: readonly Entry[];
}

/** The differences that a part of a plan shows of a change. */
export interface ChangeShare {
  readonly change: Change;
  readonly action: ChangeAction;
  readonly differences: readonly Difference[];
  /** The change stands in the part before too, with the differences that belong there. */
  readonly isContinued: boolean;
}

/** The order in which a plan is read. What is lost comes first. */
const READING_ORDER = ['delete', 'replace', 'update', 'release', 'adopt', 'create'] as const;

/** The parts of a plan that have something in them, in reading order. A change of both sorts stands in both, with the differences of each. */
export function listPlanParts(changes: readonly Change[]): readonly PlanPart[] {
  const shares = READING_ORDER.flatMap((action) =>
    changes.filter((change) => change.action === action).flatMap((change) => divide(change, action)),
  );
  const hasDrift = shares.some(({ part }) => part === 'drift');
  const headings: Readonly<Partial<Record<PlanPart['part'], string>>> = hasDrift ? PART_HEADINGS : {};
  return (['losses', 'change', 'drift'] as const).flatMap((part): readonly PlanPart[] => {
    const own = shares.filter((share) => share.part === part);
    const heading = headings[part];
    return own.length === 0 ? [] : [{ part, changes: own, ...(heading !== undefined && { heading }) }];
  });
}

interface Share extends ChangeShare {
  readonly part: PlanPart['part'];
}

/** What has a reason of its own is no mere drift. */
function divide(change: Change, action: ChangeAction): readonly Share[] {
  const { differences, reason } = change;
  const whole = { change, action, differences, isContinued: false };
  if (action === 'delete' || action === 'replace') return [{ ...whole, part: 'losses' }];
  const drifted = differences.filter(({ origin }) => origin === 'drift');
  if (drifted.length === 0) return [{ ...whole, part: 'change' }];
  const others = differences.filter(({ origin }) => origin !== 'drift');
  if (others.length === 0 && reason === undefined) return [{ ...whole, part: 'drift' }];
  return [
    { ...whole, differences: others, part: 'change' },
    { ...whole, differences: drifted, part: 'drift', isContinued: true },
  ];
}
