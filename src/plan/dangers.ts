import { listResourceTransitionDangers, listUnknownRestrictions, type ResourceState } from '../access/dangers.ts';
import { judgeField, readSwitch } from '../access/restrictions.ts';
import { listClaims } from '../kinds/claims.ts';
import { renderTimeSpan } from '../kinds/duration.ts';
import { isValueHidden } from '../kinds/evidence.ts';
import type { Kind } from '../kinds/kind.ts';
import { isTokenUndelivered } from '../kinds/precedence.ts';
import { listReferences } from '../kinds/references.ts';
import { getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { isAddress } from '../model/address.ts';
import { type Change, isCreation, isProtected, listKnownDifferences, sendsNothing } from '../model/change.ts';
import { type Danger, sortDangersByGroup } from '../model/danger.ts';
import type { DriftedChange } from '../model/drift.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import { isJsonArray } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, LiveState, Spec } from '../model/state.ts';
import { describeTokenSink } from '../model/token-sink.ts';
import type { Predecessors } from './take-over.ts';
import { readFieldTime } from './validity.ts';

type DangerSource = Pick<Plan, 'changes' | 'stack'> & {
  /** Says which stacks own targets. Default: unknown. */
  readonly live?: LiveState | undefined;
  /** The equals of what the plan creates. Default: none. */
  readonly predecessors?: Predecessors | undefined;
  /** Addresses of credentials and certificates that are renamed back. Default: none. */
  readonly renamedBack?: ReadonlySet<string> | undefined;
  /** By the clock of the service. Default: nothing has ended yet. */
  readonly now?: Date | undefined;
};

/** Returns the changes of a plan with newly computed dangers, without those that only a rehearsal finds. */
export function computeChangesWithDangers(plan: DangerSource): readonly Change[] {
  const addresses = new Map(plan.changes.map((change) => [change.live?.id, change.address]));
  const context = {
    stack: plan.stack,
    now: plan.now,
    findClaimant: createFindClaimant(plan.changes),
    findAddress: (id: string) => addresses.get(id),
    describeTargets: createDescribeTargets(plan.stack, plan.live),
    predecessors: plan.predecessors,
    renamedBack: plan.renamedBack,
  };
  return plan.changes.map((change) => {
    // Those of an unchanged resource are known from its decision.
    if (change.action === 'no-op') return change;
    const dangers = listDangersOfChange(change, context);
    if (dangers.length > 0) return { ...change, dangers };
    if (change.dangers === undefined) return change;
    const { dangers: _, ...rest } = change;
    return rest;
  });
}

interface DangerContext {
  readonly stack: string;
  readonly findClaimant: (kind: Kind, spec: Spec) => string | undefined;
  readonly now: Date | undefined;
  readonly findAddress: (id: string) => string | undefined;
  readonly describeTargets: DescribeTargets;
  readonly predecessors: Predecessors | undefined;
  readonly renamedBack: ReadonlySet<string> | undefined;
}

function listDangersOfChange(change: Change, context: DangerContext): readonly Danger[] {
  if (sendsNothing(change.action)) return [];
  const kind = getKind(change.kind);
  const from = pickLiveSide(change);
  const to = pickDesiredSide(change, context);
  const facts = listResourceTransitionDangers(kind, from, to)
    .filter((fact) => !isEnded(fact, context) && !isSameTarget(fact, context) && !isLeftUnknown(fact, change))
    .map((fact) => context.describeTargets(withClaimant(withDelivery(fact, change), kind, context), change.team));
  return sortDangersByGroup([
    ...facts,
    ...listLonger(kind, change),
    ...listNewValues(kind, change),
    ...listBeside(change, context),
    ...listKept(change, context),
  ]);
}

/** The danger of a creation beside the equal of another stack. */
function listBeside({ action, address }: Change, { predecessors }: DangerContext): readonly Danger[] {
  const predecessor = action === 'create' ? predecessors?.get(address) : undefined;
  if (predecessor === undefined) return [];
  const consequence = `${predecessor.id} stays, or that stack deletes it`;
  return [{ group: 'ownership', danger: 'created-beside', from: predecessor.mark?.stack, consequence }];
}

/** The danger of a credential or certificate that is renamed back: it may be one that should not live on. */
function listKept({ address, live }: Change, { renamedBack }: DangerContext): readonly Danger[] {
  return renamedBack?.has(address) === true ? [{ group: 'secrets', danger: 'secret-kept', from: live?.id }] : [];
}

/** Whether a certificate that stays valid has already ended. */
function isEnded({ danger, from }: Danger, { now }: DangerContext): boolean {
  return danger === 'stays-valid' && now !== undefined && Date.parse(String(from)) <= now.getTime();
}

/**
 * Whether the service does not show a restriction for which the manifest does not ask, and no write contains it: then it
 * stays what it is.
 */
function isLeftUnknown({ danger, path = '' }: Danger, { kind, live, desired, differences }: Change): boolean {
  const [name = ''] = parsePath(path) ?? [];
  if (live === undefined || differences.some(({ field }) => field === name)) return false;
  const field = getKind(kind).fields[name];
  if (field !== undefined && judgeField(field, desired?.[name]).effect === 'restricts') return false;
  const isHidden = field !== undefined && isValueHidden(field.type, live.spec?.[name]);
  return danger === 'restriction-unknown' || (danger === 'unrestricted' && isHidden);
}

/** Whether a target only gets a new id, because the plan replaces it. */
function isSameTarget({ danger, from, to }: Danger, { findAddress }: DangerContext): boolean {
  return danger === 'target-changed' && findAddress(String(from)) === to;
}

/** Adds to the danger of a changed target which resources of which stacks the two are. `team`: of the changed resource. */
type DescribeTargets = (fact: Danger, team: string | undefined) => Danger;

function createDescribeTargets(stack: string, live: LiveState | undefined): DescribeTargets {
  let byId: ReadonlyMap<string, LiveResource> | undefined;
  const find = (id: Danger['from']): LiveResource | undefined => {
    byId ??= new Map([...(live?.resources.values() ?? [])].flat().map((one) => [one.id, one]));
    return byId.get(String(id));
  };
  return (fact, team) => {
    if (fact.danger !== 'target-changed' || live === undefined) return fact;
    const [from, to] = [find(fact.from), find(fact.to)];
    const described = [describeTarget(fact.from, from, stack), describeTarget(fact.to, to, stack)];
    if (described.every((one) => one === undefined)) return fact;
    if (described.every((one) => one?.stack === stack)) return { ...fact, consequence: 'both of this stack' };
    const said = described.map((one, index) => one?.said ?? String([fact.from, fact.to][index])).join(' → ');
    const other = describeOtherEnvironment({ from, to, stack, team });
    return { ...fact, consequence: other === undefined ? said : `${said}, ${other}` };
  };
}

/** Describes a target that a stack owns, or none. `undefined` if no list shows it. */
function describeTarget(
  named: Danger['from'],
  live: LiveResource | undefined,
  own: string,
): { readonly said: string; readonly stack: string | undefined } | undefined {
  if (isAddress(String(named))) return { said: `${named} of this stack`, stack: own };
  if (live === undefined) return undefined;
  if (live.mark === undefined) return { said: `${live.id}, which no stack manages`, stack: undefined };
  const { stack, name } = live.mark;
  const whose = stack === own ? 'of this stack' : `of the stack ${stack}`;
  return { said: `${live.kind}/${name} ${whose}`, stack };
}

/** Says that the new target belongs to another stack of another team. `undefined` if it does not, or nothing says so. */
function describeOtherEnvironment({
  from,
  to,
  stack,
  team,
}: Readonly<Record<'from' | 'to', LiveResource | undefined>> & {
  readonly stack: string;
  readonly team: string | undefined;
}): string | undefined {
  const [before, after] = [from?.mark, to?.mark];
  const known = before?.team ?? team;
  if (after === undefined || after.stack === stack || after.stack === before?.stack) return undefined;
  if (after.team === undefined || known === undefined || after.team === known) return undefined;
  return `which is another environment: its team is ${after.team}, not ${known}`;
}

/**
 * Adds to the danger of a revoked token that its mark shows no delivery. Whoever can write marks could have removed that,
 * so it is no excuse for the danger.
 */
function withDelivery(fact: Danger, { kind, live }: Change): Danger {
  const mark = live?.mark;
  if (fact.danger !== 'token-revoked' || mark === undefined || !isTokenUndelivered(getKind(kind), { mark }))
    return fact;
  return { ...fact, consequence: [fact.consequence, UNDELIVERED].filter((one) => one !== undefined).join('; ') };
}

const UNDELIVERED = 'its mark does not say that the token was delivered';

function pickLiveSide(change: Change): ResourceState | undefined {
  const { live } = change;
  if (live === undefined) return undefined;
  const { spec = {}, mark } = live;
  return { spec, protect: change.duplicateOf === undefined ? mark?.protect : isProtected(change), stack: mark?.stack };
}

/**
 * The resource after the change; `undefined` if it is deleted. `stack` is absent if no stack owns the resource then:
 * after a release, and for an attached module, which has no mark.
 */
function pickDesiredSide(
  { action, live, desired, protect, kind, isOpenToEveryone: isOpenOnPurpose }: Change,
  { stack }: DangerContext,
): ResourceState | undefined {
  if (action === 'delete') return undefined;
  const spec = desired ?? live?.spec ?? {};
  if (action === 'release') return { spec };
  return { spec, protect, isOpenOnPurpose, ...(getKind(kind).role === 'owned' && { stack }) };
}

/** Adds to the danger of a removed or changed address the resource of the plan that will serve it. */
function withClaimant(fact: Danger, kind: Kind, { findClaimant }: DangerContext): Danger {
  const { danger, path = '', from = null } = fact;
  if (danger !== 'address-removed' && danger !== 'address-changed') return fact;
  const members = isJsonArray(from)
    ? from.map((member) => ({ member, spec: { [path]: [member] } }))
    : [{ member: from, spec: { [path]: from } }];
  const claimants = members.map(({ member, spec }) => ({ member, claimant: findClaimant(kind, spec) }));
  const [first] = claimants;
  if (
    danger === 'address-removed' &&
    first?.claimant !== undefined &&
    claimants.every(({ claimant }) => claimant === first.claimant)
  )
    return { ...fact, consequence: `then served by ${first.claimant}` };
  const taken = claimants.filter(({ claimant }) => claimant !== undefined);
  const said = taken.map(({ member, claimant }) => `${String(member)} is then served by ${claimant}`);
  return taken.length === 0 ? fact : { ...fact, consequence: said.join(', ') };
}

/**
 * Creates a search for the change that claims a unique value of a spec. The search returns the address of that change.
 */
function createFindClaimant(changes: readonly Change[]): DangerContext['findClaimant'] {
  let claimants: ReadonlyMap<string, string> | undefined;
  return (kind, spec) => {
    claimants ??= new Map(
      changes.flatMap((change) =>
        change.desired === undefined || change.action === 'release'
          ? []
          : listClaims(getKind(change.kind), change.desired).map(({ key }) => [key, change.address] as const),
      ),
    );
    return listClaims(kind, spec).flatMap(({ key }) => claimants?.get(key) ?? [])[0];
  };
}

/**
 * Returns a danger if the validity becomes longer and the manifest sets `lifecycle.valid_for`. If the manifest sets an
 * end instead, the end is compared like any field.
 */
function listLonger(kind: Kind, { differences, live, validForMs }: Change): readonly Danger[] {
  const after = readFieldTime(live?.spec ?? {}, kind.validity?.after);
  const until = readFieldTime(live?.spec ?? {}, kind.validity?.until);
  const shown = differences.find(({ path }) => path === 'lifecycle.valid_for');
  if (validForMs === undefined || after === undefined || until === undefined || shown === undefined) return [];
  if (until - after >= validForMs) return [];
  const { path, from, to } = shown;
  return [
    {
      group: 'secrets',
      danger: 'longer-validity',
      path,
      from,
      to,
    },
  ];
}

/**
 * Dangers of new values that other systems need: the token of a created or replaced resource, with its sink, and after
 * a replace also computed values that users copy elsewhere.
 */
function listNewValues(kind: Kind, { action, token, keepOldForMs }: Change): readonly Danger[] {
  if (!isCreation({ action })) return [];
  const place = token === undefined ? undefined : describeTokenSink(token);
  const tokens = kind.oneTimeFields.map(
    (path): Danger => ({
      group: 'secrets',
      danger: 'token',
      path,
      to: place,
      ...(action === 'replace' && pickConsequenceOfReplace(kind, path, keepOldForMs)),
    }),
  );
  if (action === 'create') return tokens;
  const computed = Object.entries(kind.fields).filter(
    ([, { lifecycle, replacedConsequence }]) => lifecycle === 'computed' && replacedConsequence !== undefined,
  );
  return [
    ...tokens,
    ...computed.map(
      ([path]): Danger => ({ group: 'traffic', danger: 'new-values', path, ...pickConsequence(kind, path) }),
    ),
  ];
}

/** With an old resource that stays, the consequence comes later. */
function pickConsequenceOfReplace(
  kind: Kind,
  path: string,
  keepOldForMs: number | undefined,
): Pick<Danger, 'consequence'> {
  return keepOldForMs === undefined
    ? pickConsequence(kind, path)
    : { consequence: `the old ${path} works for another ${renderTimeSpan(keepOldForMs)}` };
}

function pickConsequence(kind: Kind, path: string): Pick<Danger, 'consequence'> {
  const consequence = kind.fields[path]?.replacedConsequence;
  return consequence === undefined ? {} : { consequence };
}

/**
 * Creates a function that lists the dangers of what a resource is: from the expected to the live value. Who changed a
 * field is what the mark says, and no danger depends on it. `live`: the resource that the manifest is compared with.
 */
export function createDriftDangerList(
  stack: string,
  account: LiveState,
): (change: Change, live: LiveResource | undefined) => readonly Danger[] {
  const describe = createDescribeTargets(stack, account);
  return (change, live) => {
    const { kind: kindName, desired, ignored = [], live: before, team = before?.mark?.team } = change;
    const kind = getKind(kindName);
    const names = new Set(listKnownDifferences(change).map(({ field }) => field));
    const spec = live?.spec ?? before?.spec;
    if (spec === undefined) return desired === undefined ? [] : listLostRestriction(kind, desired);
    const lost = listLostTargets(kind, spec, account);
    if (desired === undefined) return change.action === 'no-op' ? [...(change.dangers ?? []), ...lost] : lost;
    const expected = Object.fromEntries([
      ...Object.entries(spec).filter(([name]) => !names.has(name)),
      ...Object.entries(desired).filter(([name]) => names.has(name)),
    ]);
    // Omits lockouts: a user who sees this report is not locked out.
    const facts = listResourceTransitionDangers(kind, { spec: expected }, { spec })
      .filter(({ danger, path }) => danger !== 'lockout' && lost.every((one) => one.path !== path))
      .map((danger) => describe(danger, team));
    const left = listUnknownRestrictions(kind, { live: spec, desired, ignored }).filter(
      ({ path }) => !facts.some((one) => one.path === path),
    );
    return sortDangersByGroup([...facts, ...left, ...lost]);
  };
}

const NOT_THERE = 'the service does not have it';

/** The danger of a missing resource that would restrict others. */
function listLostRestriction(kind: Kind, desired: Spec): readonly Danger[] {
  return listResourceTransitionDangers(kind, { spec: desired }, undefined)
    .filter(({ danger }) => danger === 'restriction-removed')
    .map((danger) => ({ ...danger, consequence: NOT_THERE }));
}

/** The targets of enabled modules that do not exist, although resources of their kind were listed. */
function listLostTargets(kind: Kind, spec: Spec, { resources }: LiveState): readonly Danger[] {
  const targets = kind.specFields.filter(
    ([name, { carries }]) => carries === 'while-on' && readSwitch(spec[name]) === 'on',
  );
  const parts = Object.fromEntries(targets.map(([name]) => [name, spec[name] ?? null]));
  return listReferences(kind, parts).flatMap(({ path, value }): readonly Danger[] => {
    const listed = OWNED_KINDS.find(({ idPrefix }) => value.startsWith(`${idPrefix}_`));
    const ofKind = listed && resources.get(listed.name);
    if (ofKind === undefined || ofKind.some(({ id }) => id === value)) return [];
    return [
      { group: 'traffic', danger: 'target-removed', path: formatPath(path), from: value, consequence: NOT_THERE },
    ];
  });
}

/**
 * The danger of a live resource that is no longer valid, or not valid yet. `isStartStated`: the manifest says when it
 * begins, so a later start is no danger.
 */
export function listValidityDangers(
  { kind, validFrom, validUntil }: Pick<DriftedChange, 'kind' | 'validFrom' | 'validUntil'>,
  { now, isStartSet }: { readonly now: Date; readonly isStartSet: boolean },
): readonly Danger[] {
  const { validity } = getKind(kind);
  if (validUntil !== undefined && Date.parse(validUntil) <= now.getTime())
    return [{ group: 'secrets', danger: 'ended', path: validity?.until ?? '', from: validUntil }];
  if (validFrom !== undefined && !isStartSet && Date.parse(validFrom) > now.getTime())
    return [{ group: 'secrets', danger: 'not-valid-yet', path: validity?.after ?? '', from: validFrom }];
  return [];
}
