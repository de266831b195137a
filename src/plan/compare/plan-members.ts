import { KEY_VARIABLE } from '../../model/api-key.ts';
import {
  type Change,
  type Difference,
  formatChangeAddress,
  type LiveBeforeChange,
  sendsNothing,
} from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import { isJsonArray, isSameJson, type Json, toCanonicalJson } from '../../model/json.ts';
import { isOwnedBy } from '../../model/ownership.ts';
import type {
  DoneChange,
  MemberDifference,
  Plan,
  PlanOptionSettings,
  PlanSettings,
  SafetyViolation,
} from '../../model/plan.ts';
import type { GuardSettings } from '../../model/stack.ts';
import { getRequestFlag, type RequestOptionName } from '../../settings/request.ts';

/**
 * The one list of what an approval binds: for each member of a plan, whether a plan in which it differs is still as
 * approved. A new member does not compile until it is decided here.
 */

/** Must be equal. */
interface EqualRule {
  readonly rule: 'equal';
  /** The name for people. */
  readonly name: string;
  /** The value that an absent member stands for. */
  readonly unset?: Json;
  /** Whether the order has no meaning. */
  readonly isSet?: true;
}

type MemberRule =
  | EqualRule
  /** Must be equal in the way that `by` says, because an apply in between or another spelling may differ. */
  | { readonly rule: 'compared'; readonly by: string }
  /** May differ. */
  | { readonly rule: 'free'; readonly because: string }
  /** Follows from members that are compared. */
  | { readonly rule: 'derived' }
  /** Each member of the object, or of each object in the list, has a rule of its own. */
  | { readonly rule: 'members'; readonly of: MemberRules };

/** The rules for the members of an object, by name. */
export type MemberRules = Readonly<Record<string, MemberRule>>;

/** Requires a rule for every member of a type. */
type RulesOf<T> = { readonly [Name in keyof T]-?: MemberRule };

const FOR_READERS: MemberRule = { rule: 'free', because: 'only readers use it' };
const DERIVED: MemberRule = { rule: 'derived' };
const PACE: MemberRule = { rule: 'free', because: 'it changes how fast requests are sent, not which' };
const AS_VALUE: MemberRule = { rule: 'compared', by: 'the values of a difference' };

const GUARD_MEMBERS: RulesOf<GuardSettings> = {
  maxDeletes: { rule: 'equal', name: 'guard.max_deletes' },
  maxDeleteShare: { rule: 'equal', name: 'guard.max_delete_share' },
};

const SETTINGS_MEMBERS: RulesOf<PlanSettings> = {
  versionHeader: { rule: 'equal', name: 'the version header' },
  keyEnv: { rule: 'equal', name: 'the variable of the API key', unset: KEY_VARIABLE },
  kinds: { rule: 'equal', name: 'the kinds in use', isSet: true },
  guard: { rule: 'members', of: GUARD_MEMBERS },
  pageSize: PACE,
  concurrency: PACE,
  rateLimit: PACE,
};

/** The rule of an option that the plan says. */
function ruleOf(name: RequestOptionName): EqualRule {
  return { rule: 'equal', name: getRequestFlag(name), unset: [], isSet: true };
}

const OPTION_MEMBERS: RulesOf<PlanOptionSettings> = {
  rotate: ruleOf('rotate'),
  retire: ruleOf('retire'),
};

const DIFFERENCE_MEMBERS: RulesOf<Difference> = {
  path: AS_VALUE,
  from: AS_VALUE,
  to: AS_VALUE,
  field: DERIVED,
  origin: FOR_READERS,
  forcesReplace: DERIVED,
  isHidden: DERIVED,
};

const DANGER_MEMBERS: RulesOf<Danger> = {
  danger: { rule: 'compared', by: 'the dangers of a change' },
  path: { rule: 'compared', by: 'the dangers of a change' },
  group: DERIVED,
  from: DERIVED,
  to: DERIVED,
  writes: FOR_READERS,
  limitMs: FOR_READERS,
  consequence: FOR_READERS,
};

const LIVE_MEMBERS: RulesOf<LiveBeforeChange> = {
  id: { rule: 'compared', by: 'the id of what is changed' },
  spec: { rule: 'compared', by: 'the fields of a delete or a release, and the start of a difference' },
  mark: DERIVED,
  switches: { rule: 'free', because: 'every plan reads it again' },
};

/** `name` of these rules is the path under which a report shows the member. */
export const CHANGE_MEMBERS: RulesOf<Change> = {
  address: { rule: 'compared', by: 'the address of a change' },
  duplicateOf: { rule: 'free', because: 'a delete is known by the id of what it deletes' },
  isOriginal: DERIVED,
  retiresAt: { rule: 'free', because: 'a delete before that time differs in its action' },
  kind: DERIVED,
  action: { rule: 'compared', by: 'the action of a change' },
  differences: { rule: 'members', of: DIFFERENCE_MEMBERS },
  dangers: { rule: 'members', of: DANGER_MEMBERS },
  isOpenToEveryone: DERIVED,
  token: { rule: 'equal', name: 'token' },
  live: { rule: 'members', of: LIVE_MEMBERS },
  desired: { rule: 'compared', by: 'the fields of a create or a replace' },
  hiddenDigest: { rule: 'compared', by: 'the hidden values of a change' },
  ignored: { rule: 'equal', name: 'lifecycle.ignore', isSet: true },
  validForMs: { rule: 'equal', name: 'lifecycle.valid_for' },
  keepOldForMs: { rule: 'equal', name: 'lifecycle.keep_old_for' },
  retires: DERIVED,
  protect: { rule: 'equal', name: 'lifecycle.protect', unset: false },
  owner: { rule: 'equal', name: 'mark.owner' },
  sent: { rule: 'free', because: 'it is another form of the value in `desired`' },
  due: FOR_READERS,
  leftToOthers: FOR_READERS,
  otherSpellings: FOR_READERS,
  reason: FOR_READERS,
  notes: FOR_READERS,
  labels: FOR_READERS,
  annotations: FOR_READERS,
  place: FOR_READERS,
};

const VIOLATION_MEMBERS: RulesOf<SafetyViolation> = {
  rule: { rule: 'compared', by: 'the consents that are needed' },
  addresses: { rule: 'compared', by: 'the consents that are needed' },
  stack: { rule: 'compared', by: 'the consents that are needed' },
  policy: { rule: 'free', because: 'policies are evaluated for each plan, and nothing allows what they refuse' },
  message: FOR_READERS,
  remedy: FOR_READERS,
  places: FOR_READERS,
};

export const PLAN_MEMBERS: RulesOf<Plan> = {
  format: { rule: 'compared', by: 'reading the file' },
  tool: { rule: 'compared', by: 'the version, before anything is read from the service' },
  stack: { rule: 'equal', name: 'the stack' },
  baseUrl: { rule: 'equal', name: 'the service' },
  mode: { rule: 'equal', name: 'the mode' },
  settings: { rule: 'members', of: SETTINGS_MEMBERS },
  options: { rule: 'members', of: OPTION_MEMBERS },
  targets: ruleOf('targets'),
  exclusions: ruleOf('exclusions'),
  takeOver: { rule: 'compared', by: 'the stacks from which something is still taken over' },
  crossStackReferences: { rule: 'compared', by: 'the resources of other stacks that are still awaited' },
  hiddenSalt: {
    rule: 'free',
    because: 'each plan has a salt of its own, and digests are computed again with that of the file',
  },
  changes: { rule: 'members', of: CHANGE_MEMBERS },
  violations: { rule: 'members', of: VIOLATION_MEMBERS },
  writes: DERIVED,
  diagnostics: { rule: 'free', because: 'errors block both plans, and warnings are for readers' },
  made: FOR_READERS,
  inputs: FOR_READERS,
  skipped: FOR_READERS,
  externals: { rule: 'free', because: 'values contain the ids, not these names' },
  goneIds: FOR_READERS,
  ownerLabel: DERIVED,
  done: FOR_READERS,
  rehearsal: FOR_READERS,
  requests: FOR_READERS,
};

/** The members that decide where requests go. They are known before a plan is made. */
export interface PlanPlace extends Pick<Plan, 'stack' | 'baseUrl'> {
  readonly settings: Pick<PlanSettings, 'versionHeader' | 'keyEnv'>;
}

/** Lists the members that decide where requests go and differ from an approved plan. */
export function listPlaceDifferences(approved: Plan, place: PlanPlace): readonly MemberDifference[] {
  const { stack, baseUrl } = PLAN_MEMBERS;
  const { versionHeader, keyEnv } = SETTINGS_MEMBERS;
  const settings: MemberRule = { rule: 'members', of: { versionHeader, keyEnv } };
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
export function listMemberDifferences(rules: MemberRules, before: object, after: object): readonly MemberDifference[] {
  return Object.entries(rules).flatMap(([member, rule]): readonly MemberDifference[] => {
    const [from, to] = [getMember(before, member), getMember(after, member)];
    if (rule.rule === 'members')
      return Array.isArray(from) || Array.isArray(to)
        ? []
        : listMemberDifferences(rule.of, Object(from ?? {}), Object(to ?? {}));
    if (rule.rule !== 'equal') return [];
    const [left, right] = [toEqualForm(rule, from), toEqualForm(rule, to)];
    return isSameJson(left ?? null, right ?? null) ? [] : [{ name: rule.name, before: left, after: right }];
  });
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
