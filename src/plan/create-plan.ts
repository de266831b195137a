import type { Action, Change, ChangeStart } from '../model/change.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { toDigest } from '../model/json.ts';
import { PLAN_FORMAT, type Plan, type PlanSettings, type Write } from '../model/plan.ts';
import { parseRateLimit, toLeastMs } from '../model/rate-limit.ts';
import type { TokenSettings } from '../model/stack.ts';
import type { DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { describeKeys, describeValidity } from './certificates.ts';
import { listConflicts } from './claims.ts';
import { type Decision, decideActions, listRefusals, listRenewalDiagnostics } from './decide.ts';
import { listPlannedFiles } from './files.ts';
import { countOwned, guardPlan } from './guard.ts';
import { listHealthWarnings } from './health.ts';
import { countExtras } from './look-ups.ts';
import { matchResources } from './match.ts';
import { isLockout, orderWrites } from './order.ts';
import { describeRelease, toReleaseState } from './release.ts';
import { listRenameHints } from './rename-hints.ts';
import { selectTargets } from './select-targets.ts';
import { describeTokens, listTokensWithoutSink } from './tokens.ts';
import { listTwinHints } from './twins.ts';
import { toWithheldDiagnostics, withholdDeletes } from './withhold.ts';

/** What a plan is computed from. */
export interface PlanInput {
  readonly desired: DesiredState;
  readonly live: LiveState;
  readonly baseUrl: string;
  readonly settings: PlanSettings;
  readonly version: string;
  readonly mode: Plan['mode'];
  /** Where tokens would go: shown, and nothing else. */
  readonly tokens: TokenSettings;
  /** Addresses to narrow the plan to; empty: everything. */
  readonly targets: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** The time at which the plan is made: what has expired, or is too old, is replaced. */
  readonly now: Date;
  /** Addresses of what is replaced though nothing differs. */
  readonly rotate: readonly string[];
  /** Leaves fields alone that differ for no other reason than that they drifted. */
  readonly keepDrift?: boolean;
  /** Deletes nothing but what a replace makes anew; what would be deleted is listed. */
  readonly noDelete?: boolean;
  /** Texts of the files that manifests have something written to, by path (`listFilePaths`); one that is absent does not exist. */
  readonly files: ReadonlyMap<string, string>;
  /** Findings on the manifests, to be carried along. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Computes what would make live what the manifests ask for. Pure: the same input in any order gives the same plan.
 * A plan with diagnostics that are errors has no writes.
 */
export function createPlan(input: PlanInput): Plan {
  const { desired, live, mode, targets, takeOver = [] } = input;
  const wanted = mode === 'release' ? toReleaseState(desired) : desired;
  const matched = matchResources(wanted, live, takeOver);
  const selected = selectTargets(matched.pairs, wanted, targets);
  const decided = decideActions(selected.pairs, {
    ...input,
    stack: desired.stack.name,
    keepDrift: input.keepDrift === true,
  });
  const { decisions, withheld } = withholdDeletes(decided, input.noDelete === true);
  const errors = [
    ...selected.diagnostics,
    ...listRefusals(decisions),
    ...listRenewalDiagnostics(decisions, input),
    ...listConflicts(decisions, live, { stack: desired.stack.name, withheld }),
  ];
  const diagnostics = [
    ...input.diagnostics.filter((found) => found.severity === 'error' || selected.concerns(found)),
    ...toWithheldDiagnostics(matched.diagnostics.filter(selected.concerns), withheld),
    ...errors,
    ...listRenameHints(decisions),
    ...listTwinHints(decisions, live),
    ...listHealthWarnings(decisions, input.now),
    ...listTokensWithoutSink(decisions, input.tokens),
    ...decisions.filter((decision) => isLockout({ decision })).map(toLockoutWarning),
  ];
  const writes = diagnostics.some(({ severity }) => severity === 'error')
    ? []
    : orderWrites(decisions, desired.stack.name);
  const reasons = explainDeletedFirst(writes);
  const changes = decisions
    .map((decision) => toChange(decision, reasons, listNotes(decision, input)))
    .sort((left, right) => READING_ORDER.indexOf(left.action) - READING_ORDER.indexOf(right.action));
  return {
    format: PLAN_FORMAT,
    tool: { name: 'edgewise', version: input.version },
    stack: desired.stack.name,
    baseUrl: input.baseUrl,
    mode,
    settings: input.settings,
    targets: targets.toSorted(),
    takeOver: takeOver.toSorted(),
    inputs: desired.inputs.toSorted((left, right) => (left.file < right.file ? -1 : 1)),
    externals: Object.fromEntries([...desired.externals].sort(([left], [right]) => (left < right ? -1 : 1))),
    changes,
    ...(withheld.length > 0 && { withheld }),
    writes,
    files: hasErrors(diagnostics) ? [] : listPlannedFiles(decisions, input.files),
    diagnostics,
    violations: guardPlan({
      changes,
      owned: countOwned(live, desired.stack.name),
      settings: desired.stack.guard,
      stack: desired.stack.name,
      mode,
      isTargeted: targets.length > 0,
    }),
    requests: toEstimate({ changes, writes }, input),
  };
}

function toEstimate(plan: Pick<Plan, 'changes' | 'writes'>, { live, settings }: PlanInput): Plan['requests'] {
  const limit = parseRateLimit(settings.rateLimit);
  const apply = plan.writes.length + countExtras(plan, { live, pageSize: settings.pageSize });
  return { read: live.requests, apply, leastMs: limit === undefined ? 0 : toLeastMs(apply, limit) };
}

/** Deletes stand first wherever a plan is shown. */
const READING_ORDER: readonly Action[] = ['delete', 'replace', 'update', 'release', 'adopt', 'create', 'no-op'];

/** The digest of what a plan knows of a live resource. Whether it has moved is told field by field; the digest is for those who keep plans. */
export function toLiveDigest({ spec, mark }: LiveResource): string {
  return toDigest({ spec, mark: mark === undefined ? null : { ...mark } });
}

/** What a reader must know of a replace that cannot create first: for a while there is neither. By address. */
function explainDeletedFirst(writes: readonly Write[]): ReadonlyMap<string, string> {
  const places = new Map(writes.map(({ id }, index) => [id, index]));
  const isDeletedFirst = ({ id, address }: Write, index: number) =>
    id === `create ${address}` && (places.get(`delete ${address}`) ?? index) < index;
  return new Map(writes.filter(isDeletedFirst).map(({ address }) => [address, DELETED_FIRST]));
}

const DELETED_FIRST = 'the old one is deleted before the new one is made, because another resource takes its place';

/** What else who approves should know of a change; of what stays as it is, only when its time comes. */
function listNotes(decision: Decision, { desired, tokens }: PlanInput): readonly string[] {
  if (decision.action === 'no-op') return decision.notes;
  if (decision.action === 'release') return describeRelease(decision, desired);
  const described = [...describeTokens(decision, tokens), ...describeKeys(decision), ...describeValidity(decision)];
  return [...described, ...decision.notes];
}

function toChange(decision: Decision, reasons: ReadonlyMap<string, string>, notes: readonly string[]): Change {
  const { pair, action, differences, form } = decision;
  const { address, kind, desired, live } = pair;
  const reason = decision.reason ?? reasons.get(address);
  const isProtected = desired?.lifecycle.protect === true || live?.mark?.protect === true;
  const isTouched = action !== 'no-op';
  return {
    address,
    kind: kind.name,
    action,
    ...(reason !== undefined && { reason }),
    differences,
    ...(notes.length > 0 && { notes }),
    ...(decision.kept.length > 0 && { kept: decision.kept }),
    ...(live !== undefined && { live: toStart(live, isTouched || kind.role === 'attached') }),
    ...(form !== undefined && isTouched && { desired: form.normal }),
    ...(isProtected && { protect: true }),
  };
}

function toStart(live: LiveResource, isTouched: boolean): ChangeStart {
  const { id, spec, mark } = live;
  return { id, digest: toLiveDigest(live), ...(isTouched && { spec }), ...(mark !== undefined && { mark }) };
}

function toLockoutWarning({ pair }: Decision): Diagnostic {
  const { address, desired } = pair;
  return {
    code: 'lockout',
    severity: 'warning',
    message: `${address} restricts the API, the dashboard or agents, and may lock out who applies it`,
    remedy: 'Make sure that its IP policies allow the address that edgewise runs from. It is written last.',
    address,
    ...(desired !== undefined && { place: desired.locate(['spec']) }),
  };
}
