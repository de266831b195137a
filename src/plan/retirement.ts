import { renderTimeSpan } from '../kinds/duration.ts';
import { hasToken } from '../kinds/kind.ts';
import { getAddressName } from '../model/address.ts';
import type { Action, Difference } from '../model/change.ts';
import type { ClockSkew } from '../model/clock.ts';
import { hasDeliveredToken, isRefusalRecord, isRetiring } from '../model/mark.ts';
import type { Plan } from '../model/plan.ts';
import type { PlanningRequest } from '../settings/request.ts';
import { listPlainDifference } from './differences.ts';
import type { ExistingPair, ResourcePair } from './match.ts';
import { readFieldTime, readSettingMs } from './validity.ts';

/**
 * Rotation without a gap (`lifecycle.keep_old_for`): the old credential or certificate stays when it is replaced. The mark
 * of the new one says until when. The first apply after that time deletes the old one.
 */

/** The time of planning. */
export interface PlanTimes {
  /** By the clock of the service. Resources that have expired or are due for renewal at this time are replaced. */
  readonly now: Date;
  /** By the clock of this machine. Default: `now`. */
  readonly localNow?: Date | undefined;
  /** How the two clocks differ. Default: they do not. */
  readonly clock?: ClockSkew | undefined;
}

/** What the end of an old resource depends on. */
export interface RetirementContext extends PlanTimes, Pick<PlanningRequest, 'retire'> {
  readonly stack: string;
  readonly mode: Plan['mode'];
  /** Ids of the resources that the approved plan deletes. Absent: there is no approved plan. */
  readonly approvedDeletes?: ReadonlySet<string> | undefined;
}

/**
 * How long the old resource of a replace stays, in milliseconds. `undefined`: it is deleted at once, because the manifest
 * or `--retire` asks for that, or because nothing can use it.
 */
export function findKeepMs(
  { kind, desired, live, address, by }: ExistingPair,
  { retire = [], now }: RetirementContext,
): number | undefined {
  if (by !== 'mark' || retire.includes(address) || isRefusalRecord(live)) return undefined;
  const keepMs = readSettingMs(desired, 'keep_old_for');
  if (keepMs === 0) return undefined;
  const end = readFieldTime(live.spec, kind.validity?.until);
  const isUsable = hasToken(kind) ? hasDeliveredToken(live) : end === undefined || end > now.getTime();
  return isUsable ? keepMs : undefined;
}

/** A note on the old resource of a replace that stays for some time. */
export function describeKeptOld({ kind, live, address }: ExistingPair, keepMs: number): string {
  const leak = hasToken(kind) ? `; if its token has leaked, add --retire ${address}` : '';
  const end = kind.validity === undefined ? '' : ', or until it expires';
  return `the old one, ${live.id}, stays for ${renderTimeSpan(keepMs)}${end}${leak}`;
}

/** The decision on a resource that is kept. */
interface DecidedResource {
  readonly pair: ResourcePair;
  readonly action: Action;
  readonly reason: string | undefined;
  readonly keepOldForMs?: number | undefined;
}

/** The decision on an old resource. It has no manifest. */
interface RetirementDecision extends Omit<DecidedResource, 'keepOldForMs'> {
  readonly retiresAt: string;
  readonly differences: readonly Difference[];
  readonly notes: readonly string[];
  readonly form: undefined;
}

/** Decides about an old resource, after the decision on the one that replaced it. */
export function decideRetirement(
  pair: ResourcePair,
  successor: DecidedResource,
  context: RetirementContext,
): RetirementDecision {
  const plain = { pair, differences: [], notes: [], form: undefined };
  const retiresAt = successor.pair.live?.mark?.retires?.at ?? '';
  const decision = { ...plain, retiresAt };
  if (context.mode === 'release') return { ...decision, action: 'release', reason: 'only its mark is removed' };
  // A take-over deletes nothing.
  const isTaken = successor.action === 'take-over';
  const reason = isTaken ? undefined : findReasonToDelete(pair, { successor, retiresAt }, context);
  if (reason !== undefined) return { ...decision, action: 'delete', reason };
  const notes = [describeTime(retiresAt, pair, context)];
  const differences = listUnwrittenMarkDifferences(pair, context.stack);
  if (differences.length === 0) return { ...decision, action: 'no-op', reason: undefined, notes };
  const action = isTaken ? 'take-over' : 'update';
  return { ...decision, action, reason: `an old one, which ${pair.duplicateOf} replaced`, differences, notes };
}

interface Successor {
  readonly successor: DecidedResource;
  readonly retiresAt: string;
}

function findReasonToDelete(
  { address, duplicateOf, live }: ResourcePair,
  { successor, retiresAt }: Successor,
  context: RetirementContext,
): string | undefined {
  const { retire = [], now, localNow = now, clock, approvedDeletes } = context;
  const old = `an old one, which ${duplicateOf} replaced`;
  if (successor.action === 'delete') return [old, successor.reason].filter(Boolean).join('; ');
  if (successor.action === 'replace')
    return successor.keepOldForMs === undefined ? `${old}; both are replaced now` : `${old}; only one old one is kept`;
  if (retire.includes(address)) return `${old}; requested with --retire`;
  if (approvedDeletes?.has(live?.id ?? '') === false) return undefined;
  const isDue = [now, ...(clock?.isDoubtful === true ? [localNow] : [])].every(
    (at) => Date.parse(retiresAt) <= at.getTime(),
  );
  return isDue ? `${old}; it was kept until ${retiresAt}` : undefined;
}

/** When an old resource that stays in this plan is deleted, such as `retires in 23 hours`. */
function describeTime(
  retiresAt: string,
  { live }: ResourcePair,
  { now, clock, approvedDeletes }: RetirementContext,
): string {
  const leftMs = Date.parse(retiresAt) - now.getTime();
  if (leftMs > 0) return `an old one, which retires in ${renderTimeSpan(leftMs)}`;
  if (approvedDeletes?.has(live?.id ?? '') === false)
    return 'an old one, which has become due since the plan was approved: the next plan deletes it';
  return clock?.isDoubtful === true
    ? 'an old one, which is due; not by the clock of this machine, so it is not deleted'
    : 'an old one, which is due: the next apply deletes it';
}

/** What an interrupted replace, rename or hand-over has not written yet to the mark of an old resource. */
function listUnwrittenMarkDifferences({ address, live }: ResourcePair, stack: string): readonly Difference[] {
  if (live?.mark === undefined) return [];
  return [
    ...listPlainDifference('mark.stack', live.mark.stack, stack),
    ...listPlainDifference('mark.name', live.mark.name, getAddressName(address)),
    ...listPlainDifference('mark.retiring', isRetiring(live), true),
  ];
}
