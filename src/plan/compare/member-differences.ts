import { formatChangeAddress, sendsNothing } from '../../model/change.ts';
import { isJsonArray, isSameJson, type Json, toCanonicalJson } from '../../model/json.ts';
import { isOwnedBy } from '../../model/ownership.ts';
import type { DoneChange, MemberDifference, Plan, PlanSettings, SafetyViolation } from '../../model/plan.ts';
import { type EqualRule, type Members, PLAN_MEMBERS, SETTINGS_MEMBERS } from '../../model/plan-members.ts';
import { getRequestFlag, NAMED_REQUEST_OPTIONS } from '../../settings/request.ts';

/** Compares the members of two plans as the tables in `model/plan-members.ts` say, and what an apply in between may change. */

/** The members that decide where requests go. They are known before a plan is made. */
export interface PlanPlace extends Pick<Plan, 'stack' | 'baseUrl'> {
  readonly settings: Pick<PlanSettings, 'versionHeader' | 'keyEnv'>;
}

/** Lists the members that decide where requests go and differ from an approved plan. */
export function listPlaceDifferences(approved: Plan, place: PlanPlace): readonly MemberDifference[] {
  const { stack, baseUrl } = PLAN_MEMBERS;
  const { versionHeader, keyEnv } = SETTINGS_MEMBERS;
  const settings = { rule: 'members', of: { versionHeader, keyEnv } } as const;
  return listMemberDifferences({ stack, baseUrl, settings }, approved, place);
}

/** A later plan, and what an apply of the earlier one has done. */
interface LaterPlan {
  readonly after: Plan;
  /** `after`, with the creations of the earlier plan that its apply has to repeat. */
  readonly shown: Plan;
  readonly done: readonly DoneChange[];
}

/** Lists the members that differ, other than the changes. */
export function listPlanDifferences(before: Plan, { after, shown, done }: LaterPlan): readonly MemberDifference[] {
  return [
    ...listMemberDifferences(PLAN_MEMBERS, before, after),
    ...listTakeOverDifferences(before, after, new Set(done.map(({ address }) => address))),
    ...listAwaitedDifferences(before, after),
    ...listConsentDifferences(before, shown, (address) => hasBegun(address, before, after)),
  ];
}

/** Lists the members with the rule `equal` that differ. Skips lists of objects, which are compared one by one. */
export function listMemberDifferences(members: Members, before: object, after: object): readonly MemberDifference[] {
  return Object.entries(members).flatMap(([name, member]): readonly MemberDifference[] => {
    const [from, to] = [getMember(before, name), getMember(after, name)];
    if (member.rule === 'members')
      return Array.isArray(from) || Array.isArray(to)
        ? []
        : listMemberDifferences(member.of, Object(from ?? {}), Object(to ?? {}));
    if (member.rule !== 'equal') return [];
    const [left, right] = [toEqualForm(member, from), toEqualForm(member, to)];
    return isSameJson(left ?? null, right ?? null)
      ? []
      : [{ name: formatName(name, member), before: left, after: right }];
  });
}

function formatName(member: string, { name = member }: EqualRule): string {
  const option = NAMED_REQUEST_OPTIONS.find((one) => one.name === name);
  return option === undefined ? name : getRequestFlag(option.name);
}

function getMember(object: object, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined; // members with this rule are JSON
}

function toEqualForm({ unset, isSet }: EqualRule, value: Json | undefined) {
  const effective = value ?? unset;
  return isSet === true && isJsonArray(effective)
    ? effective.toSorted((left, right) => (toCanonicalJson(left) < toCanonicalJson(right) ? -1 : 1))
    : effective;
}

/** Whether an apply of the approved plan has done something for a change: the later plan does not do it as a whole. */
function hasBegun(address: string, approved: Plan, later: Plan): boolean {
  const find = ({ changes }: Plan) => changes.find((change) => formatChangeAddress(change) === address)?.action;
  return find(approved) !== find(later);
}

/** A stack from which the earlier plan takes over is not named any more once all of that is done. */
function listTakeOverDifferences(before: Plan, after: Plan, done: ReadonlySet<string>): readonly MemberDifference[] {
  const isDone = (stack: string): boolean => {
    const taken = before.changes.filter(
      ({ action, live }) => action !== 'no-op' && isOwnedBy({ mark: live?.mark }, stack),
    );
    return taken.length > 0 && taken.every((change) => done.has(formatChangeAddress(change)));
  };
  const earlier = before.takeOver.filter((stack) => after.takeOver.includes(stack) || !isDone(stack));
  return isSameJson([...earlier].sort(), [...after.takeOver].sort())
    ? []
    : [{ name: 'the stacks to take over from', before: earlier, after: after.takeOver }];
}

/** References to other stacks that are still to be resolved. One that is resolved is compared by its id. */
function listAwaitedDifferences(
  { crossStackReferences: before = {} }: Plan,
  { crossStackReferences: after = {} }: Plan,
): readonly MemberDifference[] {
  const approvedReferences = new Map(Object.entries(before));
  return Object.entries(after).flatMap(([address, { stack, resource }]) => {
    const approved = approvedReferences.get(address);
    const text = `${resource} of the stack ${stack}`;
    const earlier = approved && `${approved.resource} of the stack ${approved.stack}`;
    return earlier === undefined || earlier === text ? [] : [{ name: address, before: earlier, after: text }];
  });
}

/**
 * The violations that only one of the plans needs consent for. Numbers and texts are not compared. A violation of the
 * earlier plan may be gone if an apply has begun a change that it names, or, for a share of all resources, any change.
 * Policies and exchanges of values are not compared: they are found in each run, and nothing allows what they refuse.
 */
function listConsentDifferences(
  before: Plan,
  after: Plan,
  hasBegun: (address: string) => boolean,
): readonly MemberDifference[] {
  const changed = before.changes.filter(({ action }) => !sendsNothing(action)).map(formatChangeAddress);
  const isMissing = ({ rule, stack, addresses }: SafetyViolation) =>
    !after.violations.some((one) => one.rule === rule && one.stack === stack) &&
    !(isAboutShare(rule) ? changed : addresses).some(hasBegun);
  const isNew = (one: SafetyViolation) => !before.violations.some((other) => covers(other, one));
  const [gone, added] = [before.violations.filter(isMissing), after.violations.filter(isNew)].map((found) =>
    found.filter(({ rule }) => rule !== 'policy' && rule !== 'value-exchange').map(formatConsent),
  );
  return isSameJson(gone ?? [], added ?? []) ? [] : [{ name: 'the consents needed', before: gone, after: added }];
}

function isAboutShare(rule: SafetyViolation['rule']): boolean {
  return rule === 'delete-share' || rule === 'nothing-described';
}

/** Whether consent to the first violation includes the second: the same rule, for no other resources and no other stack. */
function covers(approved: SafetyViolation, one: SafetyViolation): boolean {
  const isSameRule = approved.rule === one.rule && approved.stack === one.stack;
  return isSameRule && one.addresses.every((address) => approved.addresses.includes(address));
}

function formatConsent({ rule, stack, message }: SafetyViolation): string {
  return `${stack === undefined ? rule : `${rule} of ${stack}`}: ${message}`;
}
