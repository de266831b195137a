import { KEY_VARIABLE } from './api-key.ts';
import type { Change, Difference, LiveBeforeChange } from './change.ts';
import type { Danger } from './danger.ts';
import type { Drift, StackInventory } from './drift.ts';
import type { Json, JsonObject } from './json.ts';
import type { ExtraChange, Plan, PlanOptionSettings, PlanSettings, SafetyViolation } from './plan.ts';
import type { GuardSettings } from './stack.ts';
import type { LiveResource } from './state.ts';
import type { Write } from './write.ts';

/**
 * What is said about each member of a plan beside its type: whether a plan in which it differs is still as approved, and
 * where hidden values can be in it. Comparisons and reports read these tables, so they name no member. A new member does
 * not compile until these tables and `schemas/plan.ts` have it. The type is the truth, and the schema is checked by it:
 * this room imports nothing, and the library exports the types with their comments. So what compares or shows a plan needs
 * no schema, and these tables are here.
 */

/** Must be equal. */
export interface EqualRule {
  readonly rule: 'equal';
  /** The name for people: in a change, the path under which a report shows the member. Absent: the flag of the option. */
  readonly name?: string;
  /** The value that an absent member stands for. */
  readonly unset?: Json;
  /** Whether the order has no meaning. */
  readonly isSet?: true;
}

type Rule =
  | EqualRule
  /** Must be equal in the way that `by` says, because an apply in between or another spelling may differ. */
  | { readonly rule: 'compared'; readonly by: string }
  /** May differ. */
  | { readonly rule: 'free'; readonly because: string }
  /** Follows from members that are compared. */
  | { readonly rule: 'derived' };

/** Each member of the object, or of each object in the list, is in a table of its own. */
interface MembersRule<Table> {
  readonly rule: 'members';
  readonly of: Table;
}

/**
 * Where a value has JSON of manifests or of the service, in which hidden values can be: it is a `value`, or a `spec`, whose
 * one-time fields no output has either, or its parts have some.
 */
export type JsonPlace = 'value' | 'spec' | JsonPlaces;
export type JsonPlaces = { readonly [part: string]: JsonPlace };

/** What is said about one member. */
type Member =
  | MembersRule<Members>
  | (Rule & {
      readonly json?: JsonPlace;
      /** What it has of a manifest is approved by a digest where the plan file redacts it (`stack/hidden-digests.ts`). */
      readonly isOfManifest?: true;
    });

/** The members of an object, by name. */
export type Members = Readonly<Record<string, Member>>;

type Scalar = string | number | boolean | null | undefined;

/** Whether a value can be any JSON object. */
type IsJson<T> = [JsonObject] extends [Extract<T, JsonObject>] ? true : false;

/** Whether a value has such a value in it. */
type HasJson<T> =
  IsJson<T> extends true
    ? true
    : T extends Scalar
      ? false
      : T extends readonly (infer One)[]
        ? HasJson<One>
        : true extends { [Name in keyof T]-?: HasJson<T[Name]> }[keyof T]
          ? true
          : false;

/** The object, or each object in the list. */
type Parts<T> = T extends readonly (infer One)[] ? One : NonNullable<T>;

/** Requires the places of all JSON in a type. */
export type JsonPlacesOf<T> = {
  readonly [Name in keyof T as true extends HasJson<T[Name]> ? Name : never]-?: JsonPlaceOf<T[Name]>;
};

type JsonPlaceOf<T> = IsJson<T> extends true ? 'value' | 'spec' : JsonPlacesOf<Parts<T>>;

/** Requires that something is said about each member of a type, and where the JSON is in one that has some. */
export type MembersOf<T> = { readonly [Name in keyof T]-?: MemberOf<T[Name]> };

type MemberOf<T> =
  true extends HasJson<T>
    ? (Member & { readonly json: JsonPlaceOf<T> }) | (IsJson<T> extends true ? never : MembersRule<MembersOf<Parts<T>>>)
    : Member;

const FOR_READERS = { rule: 'free', because: 'only readers use it' } as const;
const DERIVED = { rule: 'derived' } as const;
/** The option of the same name. */
const OPTION = { rule: 'equal', unset: [], isSet: true } as const;
const PACE = { rule: 'free', because: 'it changes how fast requests are sent, not which' } as const;
const AS_VALUE = { rule: 'compared', by: 'the values of a difference' } as const;

/** Both values of what differs. */
const SIDES = { from: 'value', to: 'value' } as const;

const GUARD_MEMBERS: MembersOf<GuardSettings> = {
  maxDeletes: { rule: 'equal', name: 'guard.max_deletes' },
  maxDeleteShare: { rule: 'equal', name: 'guard.max_delete_share' },
};

export const SETTINGS_MEMBERS: MembersOf<PlanSettings> = {
  versionHeader: { rule: 'equal', name: 'the version header' },
  keyEnv: { rule: 'equal', name: 'the variable of the API key', unset: KEY_VARIABLE },
  kinds: { rule: 'equal', name: 'the kinds in use', isSet: true },
  guard: { rule: 'members', of: GUARD_MEMBERS },
  pageSize: PACE,
  concurrency: PACE,
  rateLimit: PACE,
};

const OPTION_MEMBERS: MembersOf<PlanOptionSettings> = {
  rotate: OPTION,
  retire: OPTION,
};

const DIFFERENCE_MEMBERS: MembersOf<Difference> = {
  path: AS_VALUE,
  from: { ...AS_VALUE, json: 'value' },
  to: { ...AS_VALUE, json: 'value' },
  field: DERIVED,
  origin: FOR_READERS,
  forcesReplace: DERIVED,
  isHidden: DERIVED,
};

const DANGER_MEMBERS: MembersOf<Danger> = {
  danger: { rule: 'compared', by: 'the dangers of a change' },
  path: { rule: 'compared', by: 'the dangers of a change' },
  group: DERIVED,
  from: { ...DERIVED, json: 'value' },
  to: { ...DERIVED, json: 'value' },
  writes: FOR_READERS,
  limitMs: FOR_READERS,
  consequence: FOR_READERS,
};

const LIVE_MEMBERS: MembersOf<LiveBeforeChange> = {
  id: { rule: 'compared', by: 'the id of what is changed' },
  spec: { rule: 'compared', by: 'the fields of a delete or a release, and the start of a difference', json: 'spec' },
  mark: DERIVED,
  switches: { rule: 'free', because: 'every plan reads it again' },
};

/** Hidden values are numbered in this order. */
export const CHANGE_MEMBERS: MembersOf<Change> = {
  address: { rule: 'compared', by: 'the address of a change', isOfManifest: true },
  duplicateOf: { rule: 'free', because: 'a delete is known by the id of what it deletes' },
  isOriginal: DERIVED,
  retiresAt: { rule: 'free', because: 'a delete before that time differs in its action' },
  kind: DERIVED,
  action: { rule: 'compared', by: 'the action of a change' },
  differences: { rule: 'members', of: DIFFERENCE_MEMBERS },
  dangers: { rule: 'members', of: DANGER_MEMBERS },
  isOpenToEveryone: DERIVED,
  token: { rule: 'equal', name: 'token' },
  leftToOthers: { ...FOR_READERS, json: SIDES },
  otherSpellings: { ...FOR_READERS, json: SIDES },
  live: { rule: 'members', of: LIVE_MEMBERS },
  desired: { rule: 'compared', by: 'the fields of a create or a replace', json: 'spec', isOfManifest: true },
  hiddenDigest: { rule: 'compared', by: 'the hidden values of a change' },
  sent: { rule: 'free', because: 'it is another form of the value in `desired`', json: 'spec' },
  ignored: { rule: 'equal', name: 'lifecycle.ignore', isSet: true, isOfManifest: true },
  validForMs: { rule: 'equal', name: 'lifecycle.valid_for' },
  keepOldForMs: { rule: 'equal', name: 'lifecycle.keep_old_for' },
  retires: DERIVED,
  protect: { rule: 'equal', name: 'lifecycle.protect', unset: false },
  team: { rule: 'equal', name: 'mark.team', isOfManifest: true },
  due: FOR_READERS,
  reason: FOR_READERS,
  notes: FOR_READERS,
  labels: FOR_READERS,
  annotations: FOR_READERS,
  place: FOR_READERS,
};

const VIOLATION_MEMBERS: MembersOf<SafetyViolation> = {
  rule: { rule: 'compared', by: 'the consents that are needed' },
  addresses: { rule: 'compared', by: 'the consents that are needed' },
  stack: { rule: 'compared', by: 'the consents that are needed' },
  policy: { rule: 'free', because: 'policies are evaluated for each plan, and nothing allows what they refuse' },
  message: FOR_READERS,
  remedy: FOR_READERS,
  places: FOR_READERS,
};

export const WRITE_JSON: JsonPlacesOf<Write> = { body: 'spec', mark: { user: 'value', pending: 'spec' } };

export const PLAN_MEMBERS: MembersOf<Plan> = {
  format: { rule: 'compared', by: 'reading the file' },
  tool: { rule: 'compared', by: 'the version, before anything is read from the service' },
  stack: { rule: 'equal', name: 'the stack' },
  baseUrl: { rule: 'equal', name: 'the service' },
  mode: { rule: 'equal', name: 'the mode' },
  settings: { rule: 'members', of: SETTINGS_MEMBERS },
  options: { rule: 'members', of: OPTION_MEMBERS },
  targets: OPTION,
  exclusions: OPTION,
  takeOver: { rule: 'compared', by: 'the stacks from which something is still taken over' },
  crossStackReferences: { rule: 'compared', by: 'the resources of other stacks that are still awaited' },
  hiddenSalt: {
    rule: 'free',
    because: 'each plan has a salt of its own, and digests are computed again with that of the file',
  },
  changes: { rule: 'members', of: CHANGE_MEMBERS },
  violations: { rule: 'members', of: VIOLATION_MEMBERS },
  writes: { ...DERIVED, json: WRITE_JSON },
  diagnostics: { rule: 'free', because: 'errors block both plans, and warnings are for readers' },
  made: FOR_READERS,
  inputs: FOR_READERS,
  skipped: FOR_READERS,
  externals: { rule: 'free', because: 'values contain the ids, not these names' },
  goneIds: FOR_READERS,
  teamLabel: DERIVED,
  done: FOR_READERS,
  rehearsal: FOR_READERS,
  requests: FOR_READERS,
};

export const CHANGE_JSON = listJsonPlaces<Change>(CHANGE_MEMBERS);
export const PLAN_JSON = listJsonPlaces<Plan>(PLAN_MEMBERS);

export const EXTRA_CHANGE_JSON: JsonPlacesOf<ExtraChange> = {
  change: CHANGE_JSON,
  other: CHANGE_JSON,
  fields: { difference: SIDES, other: SIDES },
  dangers: SIDES,
};

export const DRIFT_JSON: JsonPlacesOf<Drift> = { changes: { ...CHANGE_JSON, driftDangers: SIDES } };

export const LIVE_RESOURCE_JSON: JsonPlacesOf<LiveResource> = { spec: 'spec', computed: 'spec' };

export const INVENTORY_JSON: JsonPlacesOf<StackInventory> = { resources: { live: LIVE_RESOURCE_JSON } };

/** Lists what a change has of its manifest. */
export function listManifestValues(change: Change): readonly unknown[] {
  return Object.entries<Member>(CHANGE_MEMBERS).flatMap(([name, member]) =>
    member.rule !== 'members' && member.isOfManifest === true ? [Reflect.get(change, name)] : [],
  );
}

/** Lists the places of JSON in a table. */
function listJsonPlaces<T>(members: MembersOf<T> & Members): JsonPlacesOf<T> {
  return findPlaces(members) as JsonPlacesOf<T>; // the type of the table requires the same places
}

function findPlaces(members: Members): JsonPlaces {
  const places = Object.entries(members).flatMap(([name, member]): readonly (readonly [string, JsonPlace])[] => {
    const place = member.rule === 'members' ? findPlaces(member.of) : member.json;
    const isNone = place === undefined || (typeof place !== 'string' && Object.keys(place).length === 0);
    return isNone ? [] : [[name, place]];
  });
  return Object.fromEntries(places);
}
