import { listReferences } from '../kinds/references.ts';
import { getKind, KINDS } from '../kinds/tables/registry.ts';
import { isAddress, toAddress } from '../model/address.ts';
import { type Change, formatChangeAddress, sendsNothing } from '../model/change.ts';
import { listAddressesInCondition } from '../model/conditions.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { toManifestPath } from '../model/field-path.ts';
import type { Outcome } from '../model/outcome.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import type { DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { formatWriteAddress, isDelete, type Write } from '../model/write.ts';
import { describeRejectionConsents } from '../plan/claims.ts';
import { createHandOverCheck } from '../plan/handed-over.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import type { Trial } from './trial.ts';

/** A plan that was applied to the copy. */
interface RehearsedPlan extends Pick<Trial, 'result' | 'refusals'> {
  readonly plan: Plan;
  readonly input: PlanInput;
  /** The changes that a new plan, created after the rehearsal, still contains. */
  readonly remaining: readonly Change[];
}

/**
 * Returns the findings of a rehearsal that the plan does not have already. A write that the service will certainly reject,
 * because the API specifies the error and the live state causes it, becomes a violation. A write that it may reject, and a
 * change that remains after the apply, become warnings.
 */
export function collectRehearsalFindings(rehearsed: RehearsedPlan): Pick<Plan, 'violations' | 'diagnostics'> {
  const { plan, input, result, remaining } = rehearsed;
  const { desired } = input;
  // Writes at these addresses claim a value that another stack of the run frees first. The plan already warns about
  // them.
  const late = listAddressesInCondition(plan, 'awaiting');
  const referrers = createReferrerQueries(input);
  const failed = result.outcomes
    .filter((one) => one.outcome === 'failed')
    .filter(({ write }) => !late.has(write.address))
    .map((one) => createRejectedWrite(one, rehearsed, referrers));
  const certain = failed.filter(isCertain);
  const violations = certain.map((refusal) => createViolation(refusal, rehearsed, referrers));
  const stopped = new Set(result.outcomes.flatMap((one) => (one.outcome === 'applied' ? [] : [one.write.address])));
  return {
    violations: violations.filter((violation) => !isKnownViolation(plan, violation)),
    diagnostics: [
      ...failed.filter((refusal) => !isCertain(refusal)).map((refusal) => createDoubtWarning(refusal, desired)),
      ...remaining
        .filter(({ address }) => !stopped.has(address))
        .map((change) => createRemainingWarning(change, desired)),
    ],
  };
}

/** Whether the plan has a violation for the same write already: its claim of a unique value is known to be rejected. */
function isKnownViolation({ violations }: Plan, { addresses }: SafetyViolation): boolean {
  return violations.some((one) => one.rule === 'claimed-elsewhere' && one.addresses.join() === addresses.join());
}

/** A write that the copy of the account rejected. */
interface RejectedWrite {
  readonly write: Write;
  /** The `error_code` of the response. `said`: the message of the response. */
  readonly code: string;
  readonly said: string;
  readonly field: string | undefined;
  /** Why the service may accept the write. Absent if the service will certainly reject it. */
  readonly doubt?: string;
  /** Until when the service will reject the write, as a clause. Absent if unknown. */
  readonly until?: string;
}

function isCertain({ doubt }: RejectedWrite): boolean {
  return doubt === undefined;
}

/**
 * Errors that the service is certain to return if the copy does, because the API specifies them. The copy returns none
 * of them by mistake: it contains only values that the service shows, and it assumes that resources that were not read
 * exist. For other errors, a service may be more liberal than the bundled server.
 */
const SPECIFIED: ReadonlySet<string> = new Set(['already_taken', 'in_use', 'missing_reference']);

function createRejectedWrite(
  { write, message, field }: Extract<Outcome, { readonly outcome: 'failed' }>,
  { refusals }: RehearsedPlan,
  referrers: Referrers,
): RejectedWrite {
  const { code, message: said } = refusals.get(message) ?? { code: '', message };
  const refusal = { write, code, said, field };
  if (!SPECIFIED.has(code)) return { ...refusal, doubt: `${CORRECT} Services may be more liberal than the rehearsal.` };
  const isKept = code === 'in_use' && isDelete(write) && referrers.areInRun(write.ids?.id ?? '');
  return isKept ? { ...refusal, doubt: DELETED_LATER, until: ' while stacks of this run refer to it' } : refusal;
}

const CORRECT = 'Correct the manifest.';
const DELETED_LATER =
  'The delete is sent after the writes of those stacks. If one of them still refers to it then, only the delete fails.';

function createDoubtWarning(
  { write, said, field, doubt = '', until }: RejectedWrite,
  desired: DesiredState,
): Diagnostic {
  const address = formatWriteAddress(write);
  const verb = until === undefined ? 'may' : 'will';
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${address}: the service ${verb} reject the request to ${write.id}${until ?? ''}: ${said}.`,
    remedy: doubt,
    address,
    ...locatePlace(write.address, desired, field),
  };
}

function createViolation(
  { write, code, said, field }: RejectedWrite,
  { input, plan }: RehearsedPlan,
  referrers: Referrers,
): SafetyViolation {
  const { place } = locatePlace(write.address, input.desired, field);
  const isDeleted = code === 'in_use' && isDelete(write);
  const help = isDeleted ? referrers.formatRemedy(write.ids?.id ?? '') : (REMEDIES[code] ?? CORRECT);
  return {
    rule: 'rejected-write',
    message: `The service will reject the request to ${write.id}: ${said}.`,
    remedy: `${help} ${describeRejectionConsents(write.address, plan.mode)}`,
    addresses: [write.address],
    places: place && [{ message: write.address, place }],
  };
}

const REMEDIES: Readonly<Record<string, string>> = {
  already_taken: 'Choose another value, or remove it from the resource that has it.',
  in_use: 'Change the resources that refer to it first, or keep it.',
  missing_reference: 'Refer to something that exists.',
};

function createRemainingWarning(change: Change, desired: DesiredState): Diagnostic {
  const paths = change.differences.map(({ path }) => path).join(', ');
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${formatChangeAddress(change)}: one apply is not enough: the next plan would still ${change.action} it${paths === '' ? '' : ` (${paths})`}.`,
    remedy: 'Apply this plan. Then plan again, and check the new plan before you apply it.',
    address: formatChangeAddress(change),
    ...locatePlace(change.address, desired, change.differences[0]?.path),
  };
}

function locatePlace(address: string, { resources }: DesiredState, path?: string): Pick<Diagnostic, 'place'> {
  const resource = resources.get(address as Parameters<typeof resources.get>[0]); // a text that does not parse as an address is not found
  if (resource === undefined) return {};
  return { place: resource.locate(toManifestPath(path)) };
}

/** Queries about the live resources that refer to a resource. */
interface Referrers {
  /**
   * Whether all references to a resource from outside this stack can be removed before it is deleted, because each
   * referrer is handed over or belongs to another stack of the run. False if there are no such referrers.
   */
  readonly areInRun: (id: string) => boolean;
  /** How to remove the references to a resource, as sentences. */
  readonly formatRemedy: (id: string) => string;
}

/** Creates the queries about referrers. */
function createReferrerQueries(input: PlanInput): Referrers {
  const { live, isInRun = () => false } = input;
  const { stack } = input.desired;
  const isHandedOver = createHandOverCheck(input);
  const isOurs = (live: LiveResource): boolean =>
    isOwnedBy(live, stack.name) && !isHandedOver(toAddress(live.kind, live.mark?.name ?? ''));
  const isLater = (live: LiveResource): boolean =>
    isOwnedBy(live, stack.name) || (live.mark !== undefined && isInRun(live.mark.stack));
  const referrers = groupReferrers(live);
  const listOthers = (id: string) => (referrers.get(id) ?? []).filter((one) => !isOurs(one));
  return {
    areInRun: (id) => {
      const others = listOthers(id);
      return others.length > 0 && others.every(isLater);
    },
    formatRemedy: (id) => formatFindingRemedy(listOthers(id)),
  };
}

/** The maximum number of referrers that a remedy names, so that it stays one sentence. */
const MAX_NAMED = 3;

function formatFindingRemedy(referrers: readonly LiveResource[]): string {
  const marked = referrers.flatMap(({ kind, mark }) =>
    mark === undefined ? [] : [`${toAddress(kind, mark.name)} of the stack ${mark.stack}`],
  );
  const unmarked = referrers.filter(({ mark }) => mark === undefined).map(({ kind, id }) => `${kind} ${id}`);
  const [first] = referrers.filter(({ mark }) => mark === undefined);
  const named = [...marked, ...unmarked];
  const more = named.length > MAX_NAMED ? [`${named.length - MAX_NAMED} more`] : [];
  const change =
    named.length === 0
      ? 'Change the resources that use it'
      : `Change ${[...named.slice(0, MAX_NAMED), ...more].join(', ')}`;
  const adopt =
    first === undefined ? '' : `, or adopt what has no mark (lifecycle.adopt: ${first.id}) and change it here`;
  return `${change}${adopt}. Or keep it in the manifests.`;
}

/** Maps an id to the live resources that refer to it. */
function groupReferrers({ resources }: LiveState): ReadonlyMap<string, readonly LiveResource[]> {
  const referrers = new Map<string, LiveResource[]>();
  for (const resource of [...resources.values()].flat())
    for (const id of new Set(listReferences(getKind(resource.kind), resource.spec).map(({ value }) => value))) {
      const others = referrers.get(id);
      if (others === undefined) referrers.set(id, [resource]);
      else others.push(resource);
    }
  return referrers;
}

/**
 * Lists the ids that a plan sends although it is unknown whether they exist: resources of their kind were not read, and
 * no live resource refers to them. A reference by a live resource proves that an id exists, because the service does
 * not delete a resource that is in use.
 */
export function listUnverifiedReferenceIds({ changes }: Plan, live: LiveState): readonly string[] {
  const listed = new Set(KINDS.filter(({ name }) => live.resources.has(name)).map(({ idPrefix }) => idPrefix));
  const sent = changes.flatMap(({ kind, action, desired }) =>
    sendsNothing(action) || desired === undefined ? [] : listReferences(getKind(kind), desired),
  );
  const ids = sent.map(({ value }) => value).filter((id) => !isAddress(id) && !listed.has(getPrefix(id)));
  const unchecked = new Set(ids);
  if (unchecked.size === 0) return [];
  for (const resource of [...live.resources.values()].flat().concat([...live.attachments.values()]))
    for (const id of listProven(resource)) unchecked.delete(id);
  return [...unchecked].sort();
}

/**
 * Lists the ids that a live resource proves to exist by referring to them. An attached resource proves nothing if none
 * of its modules is set.
 */
function listProven({ kind: name, spec }: LiveResource): readonly string[] {
  const kind = getKind(name);
  const isProof =
    kind.role === 'owned' || Object.values(spec).some((value) => typeof value === 'object' && value !== null);
  return isProof ? listReferences(kind, spec).map(({ value }) => value) : [];
}

function getPrefix(id: string): string {
  return id.slice(0, Math.max(id.indexOf('_'), 0));
}
