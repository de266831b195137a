import { readFiles } from '../apply/certificate-file.ts';
import { readLive } from '../client/read-live.ts';
import { toCanonicalJson } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import type { GuardSettings } from '../model/stack.ts';
import type { LiveState } from '../model/state.ts';
import { type Allowances, countOwned, guardPlan, listStanding } from '../plan/guard.ts';
import { checkPlan, type PlanCheck, toCheckRequest } from '../plan/saved/check-plan.ts';
import { listAppeared } from '../plan/saved/list-appeared.ts';
import type { Moved } from '../plan/saved/moved.ts';
import type { Reader } from './plan-live.ts';
import { StackError } from './stack-error.ts';

/** A plan that was saved, and how it is to be held against what is live. */
export interface SavedPlan {
  readonly plan: Plan;
  /** What it is called in messages: its file. */
  readonly name: string;
  readonly allowances: Allowances;
  readonly guard: GuardSettings;
  readonly signal?: AbortSignal | undefined;
  /** What the paths of its files are relative to. */
  readonly cwd: string;
}

/** The meaning of a plan's writes is known only to the version that made it. */
export function refuseOtherVersion({ plan: { tool }, name }: Pick<SavedPlan, 'plan' | 'name'>, version: string): void {
  if (tool.version === version) return;
  const message = `${name} was made by edgewise ${tool.version}, and this is edgewise ${version}.`;
  throw new StackError(message, {
    reason: 'stale',
    remedy: 'Make a new plan, or apply it with the version that made it. Nothing was written.',
  });
}

/** Holds a saved plan against what is live. Throws when something that it touches has moved, or when a safety rule stands against it now. */
export async function checkSaved(client: Reader, saved: SavedPlan): Promise<PlanCheck> {
  const { plan, name, signal, cwd } = saved;
  const live = await readLive(client, { ...toCheckRequest(plan), ...(signal !== undefined && { signal }) });
  const check = checkPlan(plan, live);
  const paths = plan.files.map(({ path }) => path);
  const moved = [...check.moved, ...listAppeared(plan, { present: await readFiles(paths, cwd), texts: check.texts })];
  if (moved.length > 0) throw new StackError(toStaleMessage(name, moved), STALE);
  refuseStanding(saved, live);
  return check;
}

const STALE = {
  reason: 'stale',
  remedy: 'Nothing was written. Make a new plan and have that approved.',
} as const;

/** Checks the safety rules again on what is live now: the file could have been edited. */
function refuseStanding({ plan, allowances, guard }: SavedPlan, live: LiveState): void {
  const { changes, stack, targets } = plan;
  const owned = countOwned(live, stack);
  const marks = new Map([...live.resources.values()].flat().map(({ id, mark }) => [id, mark?.protect === true]));
  const known = changes.map((change) =>
    marks.get(change.live?.id ?? '') === true ? { ...change, protect: true } : change,
  );
  // No command saves a plan of `destroy`: a file that claims to be one is checked against the limits too.
  const violations = guardPlan({
    changes: known,
    owned,
    settings: guard,
    stack,
    mode: 'apply',
    isTargeted: targets.length > 0,
  });
  refuseViolations(violations, allowances);
}

/** Throws for the first violated safety rule without consent. */
export function refuseViolations(violations: Plan['violations'], allowances: Allowances): void {
  const [first] = listStanding(violations, allowances);
  if (first !== undefined) throw new StackError(first.message, { reason: 'refused', remedy: first.remedy });
}

function toStaleMessage(name: string, moved: readonly Moved[]): string {
  const lines = moved.map(({ address, field, message, planned, live }) => {
    if (field === undefined) return `  ${address}: ${message}`;
    const from = planned === undefined ? 'nothing' : toCanonicalJson(planned);
    return `  ${address}: ${field} was ${from} when the plan was made and is ${toCanonicalJson(live ?? null)} now`;
  });
  return `${name} is stale, because what it would change has moved since:\n${lines.join('\n')}`;
}
