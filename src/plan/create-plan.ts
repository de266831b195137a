import type { Action, Change } from '../model/change.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { PLAN_FORMAT, type Plan } from '../model/plan.ts';
import { parseRateLimit, toLeastMs } from '../model/rate-limit.ts';
import type { Write } from '../model/write.ts';
import { withDangers } from './dangers.ts';
import type { Decision } from './decide.ts';
import { type DecidedPlan, decidePlan } from './decide-plan.ts';
import { explainDeletedFirst } from './deleted-first.ts';
import { listNotes } from './describe-change.ts';
import { listPlannedFiles } from './files.ts';
import { countOwned, guardPlan } from './guard.ts';
import { countLookUps } from './look-ups.ts';
import { orderWrites } from './order.ts';
import type { PlanInput } from './plan-input.ts';
import { toChange } from './to-change.ts';

/**
 * Computes what would make live what the manifests ask for. Pure: the same input in any order gives the same plan.
 * A plan with diagnostics that are errors has no writes. `decided`: what was decided of that input already.
 */
export function createPlan(input: PlanInput, decided: DecidedPlan = decidePlan(input)): Plan {
  const { desired, mode, targets, takeOver = [] } = input;
  const { decisions, withheld, diagnostics } = decided;
  const isInvalid = hasErrors(diagnostics);
  const listed = listChanges(decisions, input);
  const writes = isInvalid ? [] : orderWrites(listed, desired.stack.name);
  const changes = withDangers(explainDeletedFirst(listed, writes), writes);
  return {
    format: PLAN_FORMAT,
    tool: { name: 'edgewise', version: input.version },
    made: { at: input.now.toISOString(), ...(input.commit !== undefined && { commit: input.commit }) },
    stack: desired.stack.name,
    baseUrl: input.baseUrl,
    mode,
    settings: input.settings,
    targets: targets.toSorted(),
    takeOver: [...new Set([...takeOver, ...listHandingStacks(decisions)])].sort(),
    // As they are: few reports say the digests, which are made when they are asked for.
    inputs: desired.inputs.toSorted((left, right) => (left.file < right.file ? -1 : 1)),
    ...(Object.keys(input.awaited ?? {}).length > 0 && { awaited: input.awaited ?? {} }),
    externals: Object.fromEntries([...desired.externals].sort(([left], [right]) => (left < right ? -1 : 1))),
    ...(desired.stack.ownerLabel !== undefined && { ownerLabel: desired.stack.ownerLabel }),
    changes,
    ...(withheld.length > 0 && { withheld }),
    writes,
    files: isInvalid ? [] : listPlannedFiles(decisions, input.files),
    diagnostics,
    violations: listViolations(changes, input),
    requests: toEstimate(writes, input),
  };
}

/** The stacks that hand something over by a manifest of this one. */
function listHandingStacks(decisions: readonly Decision[]): readonly string[] {
  return decisions.flatMap(({ pair: { by, desired, live } }) => {
    const from = desired?.lifecycle.takenFrom?.stack;
    return by === 'adopt' && from !== undefined && live?.mark?.stack === from ? [from] : [];
  });
}

function listChanges(decisions: readonly Decision[], input: PlanInput): readonly Change[] {
  return decisions
    .map((decision) => toChange(decision, listNotes(decision, input)))
    .sort((left, right) => READING_ORDER.indexOf(left.action) - READING_ORDER.indexOf(right.action));
}

/** Deletes stand first wherever a plan is shown. */
const READING_ORDER: readonly Action[] = ['delete', 'replace', 'update', 'release', 'adopt', 'create', 'no-op'];

function listViolations(changes: readonly Change[], { desired, live, mode, targets }: PlanInput): Plan['violations'] {
  return guardPlan({
    changes,
    owned: countOwned(live, desired.stack.name),
    settings: desired.stack.guard,
    stack: desired.stack.name,
    mode,
    isTargeted: targets.length > 0,
  });
}

function toEstimate(writes: readonly Write[], { live, settings }: PlanInput): Plan['requests'] {
  const limit = parseRateLimit(settings.rateLimit);
  const { least, isOpen } = countLookUps(writes, { live, pageSize: settings.pageSize });
  const apply = writes.length + least;
  return {
    read: live.requests,
    apply,
    ...(isOpen && { mayTakeMore: true }),
    leastMs: limit === undefined ? 0 : toLeastMs(apply, limit),
  };
}
