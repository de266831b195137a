import type { Change } from '../../model/change.ts';
import { type ChangeAction, type ChangeShare, type ChangeView, toChangeView } from './change-view.ts';
import type { Names } from './value-lines.ts';

/**
 * The changes of a plan, divided by whose they are. `deletes`: what is lost, whoever wants it. `change`: what the manifests ask for.
 * `drift`: what was changed at the service, and will be as before.
 */
export interface PlanPart {
  readonly part: 'deletes' | 'change' | 'drift';
  /** Absent where nothing needs to be told apart. */
  readonly heading?: string;
  /** Deletes first, then replaces, updates, adoptions, creates. None of them is empty. */
  readonly groups: readonly ChangeGroup[];
}

/** The changes of one action, in the order of the plan. */
export interface ChangeGroup {
  readonly action: ChangeAction;
  readonly changes: readonly ChangeView[];
}

/** The order in which a plan is read. What is lost comes first. */
const READING_ORDER = ['delete', 'replace', 'update', 'release', 'adopt', 'create'] as const;

/** The parts of a plan that have something in them, in reading order. A change of both sorts stands in both, with the fields of each. */
export function listPlanParts(changes: readonly Change[], names: Names): readonly PlanPart[] {
  const shares = READING_ORDER.flatMap((action) =>
    changes.filter((change) => change.action === action).flatMap((change) => divide(change, action)),
  );
  const hasDrift = shares.some(({ part }) => part === 'drift');
  const headings = hasDrift ? HEADINGS : {};
  return (['deletes', 'change', 'drift'] as const).flatMap((part): readonly PlanPart[] => {
    const groups = listGroups(
      shares.filter((share) => share.part === part),
      names,
    );
    const heading = headings[part];
    return groups.length === 0 ? [] : [{ part, groups, ...(heading !== undefined && { heading }) }];
  });
}

const HEADINGS: Readonly<Partial<Record<PlanPart['part'], string>>> = {
  change: 'This change',
  drift: 'Drift that will be put back',
};

interface Share extends ChangeShare {
  readonly part: PlanPart['part'];
}

/** What has a reason of its own is no mere drift. */
function divide(change: Change, action: ChangeAction): readonly Share[] {
  const { differences, reason } = change;
  const whole = { change, action, differences, isContinued: false };
  if (action === 'delete') return [{ ...whole, part: 'deletes' }];
  const drifted = differences.filter(({ origin }) => origin === 'drift');
  if (drifted.length === 0) return [{ ...whole, part: 'change' }];
  const others = differences.filter(({ origin }) => origin !== 'drift');
  if (others.length === 0 && reason === undefined) return [{ ...whole, part: 'drift' }];
  return [
    { ...whole, differences: others, part: 'change' },
    { ...whole, differences: drifted, part: 'drift', isContinued: true },
  ];
}

function listGroups(shares: readonly Share[], names: Names): readonly ChangeGroup[] {
  return READING_ORDER.flatMap((action) => {
    const changes = shares.filter((share) => share.action === action).map((share) => toChangeView(share, names));
    return changes.length === 0 ? [] : [{ action, changes }];
  });
}
