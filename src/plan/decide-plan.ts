import type { Address } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Withheld } from '../model/plan.ts';
import { listConflicts } from './claims.ts';
import { type Decision, decideActions, listRefusals, listRenewalDiagnostics } from './decide.ts';
import { listHealthWarnings } from './health.ts';
import { matchResources } from './match.ts';
import type { PlanInput } from './plan-input.ts';
import { toReleaseState } from './release.ts';
import { listRenameHints } from './rename-hints.ts';
import { selectTargets } from './select-targets.ts';
import { listLengthWarnings, listStayingWarnings } from './staying.ts';
import { listTokensWithoutSink } from './tokens.ts';
import { listTwinHints } from './twins.ts';
import { listUsedElsewhere } from './used-elsewhere.ts';
import { toWithheldDiagnostics, withholdDeletes } from './withhold.ts';

/** What is to become of each resource, and what is to be said of that. */
export interface DecidedPlan {
  readonly decisions: readonly Decision[];
  readonly withheld: readonly Withheld[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Pairs what is desired with what is live, narrows that to the targets, and decides on each pair. */
export function decidePlan(input: PlanInput): DecidedPlan {
  const { desired, live, mode, targets, takeOver = [], tokens, now } = input;
  const stack = desired.stack.name;
  const wanted = mode === 'release' ? toReleaseState(desired) : desired;
  const matched = matchResources(wanted, live, { takeOver, isLeft: toLeft(input) });
  const selected = selectTargets(matched.pairs, wanted, targets);
  const decided = decideActions(selected.pairs, { ...input, stack, keepDrift: input.keepDrift === true });
  const { decisions, withheld } = withholdDeletes(decided, input.noDelete === true);
  const diagnostics = [
    ...input.diagnostics.filter((found) => found.severity === 'error' || selected.concerns(found)),
    ...toWithheldDiagnostics(matched.diagnostics.filter(selected.concerns), withheld),
    ...selected.diagnostics,
    ...listRefusals(decisions),
    ...listRenewalDiagnostics(decisions, input),
    ...listConflicts(decisions, live, { stack, withheld }),
    ...listUsedElsewhere(decisions, live, stack),
    ...listRenameHints(decisions),
    ...listTwinHints(decisions, live),
    ...listHealthWarnings(decisions, now),
    ...listStayingWarnings(decisions),
    ...listLengthWarnings(decisions),
    ...listTokensWithoutSink(decisions, tokens),
    ...decisions.filter(canLockOut).map(toLockoutWarning),
  ];
  return { decisions, withheld, diagnostics };
}

/** What another stack takes over is not deleted: it is that stack's to keep. */
function toLeft({ desired: { stack }, mode, isHandedOver = () => false }: PlanInput): (address: Address) => boolean {
  if (mode === 'release') return () => false;
  const released = new Set<string>(stack.released);
  return (address) => released.has(address) || isHandedOver(address);
}

function canLockOut({ action, form, pair }: Decision): boolean {
  return action !== 'no-op' && form !== undefined && pair.kind.canLockOut(form.normal);
}

function toLockoutWarning({ pair }: Decision): Diagnostic {
  const { address, desired } = pair;
  return {
    code: 'lockout',
    severity: 'warning',
    message: `${address} restricts the API, the dashboard or agents, and may lock out whoever applies it`,
    remedy: 'Make sure that its IP policies allow the address that edgewise runs from. It is written last.',
    address,
    ...(desired !== undefined && { place: desired.locate(['spec']) }),
  };
}
