import { findAccessRuleCaption } from '../../kinds/dangers.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { type Change, formatChangeAddress } from '../../model/change.ts';
import {
  countDangersByGroup,
  DANGER_GROUP_NAMES,
  type Danger,
  type DangerGroup,
  type DangerGroupCounts,
  type DangerName,
} from '../../model/danger.ts';
import type { ManifestStart } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import { parsePath, pathsOverlap } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, toDigest } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatJson } from '../../model/secret-value.ts';
import type { FormatOptions, Report } from '../report.ts';
import { quoteIfNeeded } from './escape.ts';
import {
  type FieldView,
  findFieldType,
  formatPathWithTargetName,
  isAbsentOrEmptyCollection,
  listFieldValuesForSearch,
  type OptionalFieldType,
  type ResourceNames,
  renderScalar,
} from './field-view.ts';
import { formatCount, formatWaitTime } from './wording.ts';

/** A danger as printable texts. */
export interface DangerView {
  readonly group: DangerGroup;
  readonly danger: DangerName;
  readonly address: string;
  /** One clause whose subject is the resource, such as `no longer has a backend: backend WeightedBackend/pool → (none)`. */
  readonly said: string;
  /** `said` without the consequence, split into text and values. */
  readonly clause: Clause;
  /** The consequence. Empty if it is unknown. */
  readonly then: string;
  /** The change that has the danger. `path`: the field that the danger is about. */
  readonly change: Change;
  readonly path?: string | undefined;
  /**
   * The path of the difference that causes the danger, as manifests write it. The FieldView of that difference has the
   * same `manifestPath`, so that both link to the same line.
   */
  readonly manifestPath?: string | undefined;
  /** Absent if neither the manifest nor the mark names an owner. */
  readonly owner?: string;
  /** Unique in a report, and safe as a URL fragment. */
  readonly anchor: string;
}

/** `planned`: applying the plan causes the danger. `happened`: a change at the service caused it. */
type Tense = 'planned' | 'happened';

/** Dangers by group, the most severe of each group first. */
export function listDangerViews(
  changes: readonly Change[],
  names: ResourceNames,
  tense: Tense = 'planned',
): readonly DangerView[] {
  const views = changes.flatMap((change) => {
    const { dangers = [], kind, owner } = change;
    const address = quoteIfNeeded(formatChangeAddress(change));
    const whose = owner === undefined ? {} : { owner: toPrintable(owner) };
    return dangers.map((one) => {
      const { group, danger, path = SETTINGS[danger], consequence = '' } = one;
      const clause = createClause(one, { kind: findKind(kind), change, names, tense });
      const then = [
        toPrintable(consequence),
        ...(tense === 'planned' && isRevert(change, one) ? ['reverts drift'] : []),
      ]
        .filter(Boolean)
        .join('; ');
      const said = formatSentence(clause, then);
      const manifestPath = findStatedPath(change, { path, kind: findKind(kind), names });
      return {
        group,
        danger,
        address,
        said,
        clause,
        then,
        change,
        path,
        manifestPath,
        ...whose,
        anchor: createAnchor(change, one),
      };
    });
  });
  return DANGER_GROUP_NAMES.flatMap((group) => views.filter((view) => view.group === group));
}

/** Whether the change does nothing to the danger's field except revert its drift. */
function isRevert({ differences }: Change, { path = '' }: Danger): boolean {
  const field = parsePath(path)?.[0];
  const own = differences.filter((difference) => difference.field !== undefined && difference.field === field);
  return own.length > 0 && own.every(({ origin }) => origin === 'drift');
}

/**
 * The path of the difference that causes a danger, as manifests write it. If the field is computed and in no
 * difference, the first difference is the cause.
 */
function findStatedPath(
  { differences }: Change,
  {
    path,
    kind,
    names,
  }: { readonly path: string | undefined; readonly kind: Kind | undefined; readonly names: ResourceNames },
): string | undefined {
  const steps = parsePath(path ?? '');
  const own = differences.find((one) => steps !== undefined && pathsOverlap(parsePath(one.path) ?? [], steps));
  const cause = own?.path ?? (isComputed(kind, path) ? differences[0]?.path : path);
  return cause === undefined ? undefined : formatPathWithTargetName(cause, { kind, names });
}

/** Whether only the service sets the field. */
function isComputed(kind: Kind | undefined, path = ''): boolean {
  return kind?.fields[path]?.lifecycle === 'computed' || kind?.oneTimeFields.includes(path) === true;
}

/** The anchor depends on the file, because resources of different stacks may have the same address. */
function createAnchor({ address, live, place }: Change, { danger, path = '' }: Danger): string {
  return `danger-${toDigest([address, live?.id ?? '', place?.file ?? '', danger, path], 12)}`;
}

/** The path of the field that a danger is about, for dangers without a `path` of their own. */
const SETTINGS: Readonly<Partial<Record<DangerName, string>>> = { unprotected: 'lifecycle.protect' };

/**
 * The position of a field in the manifest or, if unknown, the start of the manifest. Undefined for deleted resources.
 */
export function findDangerSourcePlace(
  {
    change,
    manifestPath: path,
  }: Pick<DangerView, 'manifestPath'> & { readonly change: Pick<Change, 'address' | 'place'> },
  { locate }: { readonly locate?: FormatOptions['locate'] | undefined },
): ManifestStart | undefined {
  const { address, place } = change;
  if (place === undefined) return undefined;
  const found = path === undefined || path.startsWith('mark.') ? undefined : locate?.(address, path);
  return found === undefined ? place : { ...place, line: found.line };
}

/** Whether a danger contains every value of a field word for word, so that a format can omit the field. */
export function isFieldCoveredByDanger({ path, clause }: DangerView, field: FieldView): boolean {
  const values = listFieldValuesForSearch(field);
  const isAbout = path !== undefined && field.path.startsWith(path);
  return isAbout && values.length > 0 && values.every((value) => clause.values.includes(value));
}

/** Splits a text into code (in backticks) and other text. Returns the whole text if the backticks are not in pairs. */
export function splitAtBackticks(text: string): readonly { readonly piece: string; readonly isCode: boolean }[] {
  const pieces = text.split('`');
  if (pieces.length % 2 === 0) return [{ piece: text, isCode: false }];
  return pieces.map((piece, index) => ({ piece, isCode: index % 2 === 1 })).filter(({ piece }) => piece !== '');
}

/** Returns, for example, `3 dangers (2 access, 1 secrets)`. Empty if there are no dangers. */
export function formatDangerCountsOfChanges(
  changes: readonly { readonly dangers?: Change['dangers'] | undefined }[],
): string {
  return formatDangerCounts(countDangersByGroup(changes.flatMap(({ dangers = [] }) => dangers)));
}

/** Counts the dangers of plans, applies and drift by group. */
export function countDangersInReports(reports: readonly Report[]): DangerGroupCounts {
  const dangers = reports.flatMap((report): readonly Danger[] => {
    if (report.about === 'drift') return report.drift.changes.flatMap((one) => one.driftDangers ?? []);
    return report.about === 'plan' || report.about === 'apply'
      ? report.plan.changes.flatMap((one) => one.dangers ?? [])
      : [];
  });
  return countDangersByGroup(dangers);
}

/** Returns, for example, `3 dangers (2 access, 1 secrets)`. Empty if there are no dangers. */
export function formatDangerCounts(counts: DangerGroupCounts): string {
  const groups = DANGER_GROUP_NAMES.filter((group) => counts[group] > 0);
  const total = groups.reduce((sum, group) => sum + counts[group], 0);
  if (total === 0) return '';
  return `${formatCount(total, 'danger')} (${groups.map((group) => `${counts[group]} ${group}`).join(', ')})`;
}

/** A clause whose subject is the resource. It has two parts, so that formats can style the values differently. */
interface Clause {
  readonly lead: string;
  /** The field with both values. Empty if the lead says everything. */
  readonly values: string;
}

function formatSentence({ lead, values }: Clause, then: string): string {
  return `${[lead, values].filter((text) => text !== '').join(' ')}${then === '' ? '' : `: ${then}`}`;
}

interface ClauseContext {
  readonly kind: Kind | undefined;
  readonly change: Change;
  readonly names: ResourceNames;
  readonly tense: Tense;
}

/**
 * The clauses whose words are always the same: for a planned change, which follows `will`, for a change that has
 * happened, and what follows both: the field with both its sides, only its path, its former value, or nothing.
 */
const WORDINGS = {
  'restriction-disabled': ['have this disabled:', 'has this disabled:', 'sides'],
  'restriction-changed': ['have another restriction:', 'has another restriction:', 'sides'],
  'access-widened': ['widen access:', 'widens access:', 'sides'],
  'address-changed': ['be reached elsewhere:', 'is reached elsewhere:', 'sides'],
  'target-removed': ['no longer have a backend:', 'no longer has a backend:', 'sides'],
  'target-disabled': ['have its backend disabled:', 'has its backend disabled:', 'sides'],
  'target-changed': ['send traffic elsewhere:', 'sends traffic elsewhere:', 'sides'],
  'no-weight': ['send traffic to no member:', 'sends traffic to no member:', 'sides'],
  'longer-validity': ['be valid for longer:', 'is valid for longer:', 'sides'],
  'rules-reordered': ['have its rules in another order:', 'has its rules in another order:', 'path'],
  ended: ['no longer be valid from', 'is no longer valid since', 'former'],
  'not-valid-yet': ['not be valid before', 'is not valid before', 'former'],
  'token-revoked': ['lose its token', 'lost its token', 'nothing'],
  unprotected: ['no longer be protected', 'is no longer protected', 'nothing'],
} as const;

type DangerWithWording = keyof typeof WORDINGS;

function hasWording(danger: Danger['danger']): danger is DangerWithWording {
  return Object.hasOwn(WORDINGS, danger);
}

function createClause(danger: Danger, context: ClauseContext): Clause {
  const { kind, change, names, tense } = context;
  const { danger: what } = danger;
  const path = toPrintable(danger.path ?? '');
  const former = toPrintable(String(danger.from));
  const sides = `${path} ${formatDangerSides(kind, danger, names)}`;
  const clause = (planned: string, happened: string, values: string): Clause => ({
    lead: tense === 'planned' ? `will ${planned}` : happened,
    values,
  });
  if (hasWording(what)) {
    const [planned, happened, follows] = WORDINGS[what];
    return clause(planned, happened, { sides, path, former, nothing: '' }[follows]);
  }
  const owner = quoteIfNeeded(String(danger.from));
  switch (what) {
    case 'address-removed':
      return change.action === 'delete'
        ? clause('be deleted, and no longer be reached at', 'is no longer reached at', sides)
        : clause('no longer be reached at', 'is no longer reached at', sides);
    case 'restriction-removed':
      if (path === '') return clause('no longer restrict access', 'no longer restricts access', '');
      return kind?.restrictsAccess === true
        ? clause('no longer restrict:', 'no longer restricts:', sides)
        : clause('no longer be restricted:', 'is no longer restricted:', sides);
    case 'unrestricted': {
      const lead = kind?.fields[danger.path ?? '']?.summary?.unset ?? `is not restricted by ${path}`;
      return danger.from === undefined ? { lead, values: '' } : { lead: `${lead}:`, values: sides };
    }
    case 'rule-removed':
    case 'rule-changed':
    case 'rule-added':
      return createRuleClause(danger, context);
    case 'lockout':
      return { lead: 'may lock out the user who applies it', values: '' };
    case 'gap':
      return createGapClause(danger, context);
    case 'new-values':
      return clause(`get a new \`${path}\` from the service`, `got a new \`${path}\` from the service`, '');
    case 'token':
      return createTokenClause(danger, context);
    case 'stays-valid': {
      const old = `the ${change.action === 'replace' ? 'old ' : ''}${kind?.title ?? 'resource'} valid until`;
      return clause(`leave ${old}`, `left ${old}`, former);
    }
    case 'released':
      return clause(`be released: it belongs to ${owner}`, `was released: it belonged to ${owner}`, '');
    case 'handed-over':
      return clause(`be taken over from the stack ${owner}`, `was taken over from the stack ${owner}`, '');
    default:
      return assertNever(what);
  }
}

function createTokenClause({ to }: Danger, { change, tense }: ClauseContext): Clause {
  const what = `${change.action === 'create' ? 'its first token' : 'a new token'}${to === undefined ? '' : ', which goes to'}`;
  return { lead: tense === 'planned' ? `will get ${what}` : `got ${what}`, values: toPrintable(String(to ?? '')) };
}

function createGapClause({ path = '', from, writes = 0, limitMs }: Danger, { kind, tense }: ClauseContext): Clause {
  const time =
    limitMs === undefined
      ? ''
      : `, which ${writes === 1 ? 'takes' : 'take'} ${formatWaitTime(limitMs)} once the rate limit is reached`;
  const during = `during ${formatCount(writes, 'write')}${time}`;
  const [field, isPlanned] = [toPrintable(path), tense === 'planned'];
  if (from === undefined)
    return { lead: `${isPlanned ? 'will be' : 'was'} without its ${field} ${during}`, values: '' };
  const given = toPrintable(isJsonArray(from) ? from.map(String).join(', ') : String(from));
  const isMissing = kind?.fields[path]?.unique === true;
  const lead = `${isPlanned ? 'will leave' : 'left'} without ${isMissing ? 'a resource' : `its ${field}`} ${during}:`;
  return { lead, values: isMissing ? `${field} ${given}` : given };
}

/** Returns, for example, `has the deny rule `europe` changed (policy.inbound[0]): expressions "…" → "…"`. */
function createRuleClause({ danger, path = '', from, to }: Danger, { kind, names, tense }: ClauseContext): Clause {
  const type = kind === undefined ? undefined : findFieldType(kind, path);
  const rule = formatRuleName(type, to ?? from ?? null);
  const parts = listRuleParts(type, { from, to }, names);
  const verb = tense === 'planned' ? 'will have' : 'has';
  const lead = `${verb} the ${rule} ${danger.slice('rule-'.length)} (${toPrintable(path)})`;
  return { lead: parts.length === 0 ? lead : `${lead}:`, values: parts.join('; ') };
}

/** Returns, for example, ``deny rule `europe` ``. */
function formatRuleName(type: OptionalFieldType, rule: Json): string {
  const caption = findAccessRuleCaption(type, rule);
  const actions = [...new Set(listActions(type, rule))].join(', ');
  return [actions, 'rule', caption === undefined ? '' : `\`${toPrintable(caption)}\``].filter(Boolean).join(' ');
}

/**
 * The actions of a rule, such as `deny`: the values of those text fields for which the kind's table lists known values.
 */
function listActions(type: OptionalFieldType, value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return type?.type === 'text' && type.known !== undefined ? [quoteIfNeeded(value)] : [];
  return Object.entries(value).flatMap(([key, member]) => {
    const step = Array.isArray(value) ? Number(key) : key;
    const field = type?.type === 'object' ? type.fields[key] : undefined;
    return field?.isCaption === true ? [] : listActions(findMemberType(type, step), member);
  });
}

/** The fields of a rule that differ, each with both values. For an added or removed rule, all its fields. */
function listRuleParts(
  type: OptionalFieldType,
  { from, to }: { readonly from: Json | undefined; readonly to: Json | undefined },
  names: ResourceNames,
): readonly string[] {
  if (type?.type !== 'object')
    return [`${formatDangerValue(type, from, names)} → ${formatDangerValue(type, to, names)}`];
  const [before, after] = [from, to].map((side) => (isJsonObject(side) ? side : {}));
  return Object.entries(type.fields).flatMap(([name, field]) => {
    const [left, right] = [before?.[name] ?? null, after?.[name] ?? null];
    if (field.isCaption || isSameJson(left, right)) return [];
    const sides = [left, right].map((side) => formatDangerValue(field.type, side, names));
    return sides[0] === sides[1] ? [] : [`${name} ${sides[0]} → ${sides[1]}`];
  });
}

/**
 * The maximum number of characters of a value in a danger: three lines of a terminal. The change shows the whole value.
 */
const MAX_VALUE = 240;

function formatDangerSides(
  kind: Kind | undefined,
  { danger, path = '', from, to }: Danger,
  names: ResourceNames,
): string {
  const type = kind === undefined ? undefined : findFieldType(kind, path);
  const [before, after] = [from, to].map((side) => formatDangerValue(type, side, names));
  if (danger === 'access-widened') return `+ ${after}`;
  if (danger === 'address-removed') return `${before}`;
  // A disabled field keeps its values, so show the same values only once.
  const isDisabled = danger === 'restriction-disabled' || danger === 'target-disabled';
  return isDisabled && typeof from !== 'boolean' ? `(${before})` : `${before} → ${after}`;
}

const NOTHING = '(none)';

function formatDangerValue(type: OptionalFieldType, value: Json | undefined, names: ResourceNames): string {
  const text = formatWholeValue(type, value ?? null, names);
  if (text === '') return NOTHING;
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The uncut text of a value: rules by name, object members one after the other, and free JSON in canonical form. */
function formatWholeValue(type: OptionalFieldType, value: Json, names: ResourceNames): string {
  if (typeof value === 'boolean') return String(value);
  if (value === null) return '';
  if (type?.type === 'json') return toPrintable(formatJson(value));
  if (type?.type === 'list' && isJsonArray(value) && type.of.type === 'object')
    return value.map((member) => formatDangerMember(type.of, member, names)).join(', ');
  if (type?.type !== 'object' || !isJsonObject(value)) return listScalarTexts(type, value, names).join(', ');
  return Object.entries(value)
    .filter(([, member]) => typeof member !== 'boolean')
    .map(([name, member]) => formatWholeValue(findMemberType(type, name), member, names))
    .filter((text) => text !== '')
    .join(' ');
}

function formatDangerMember(type: OptionalFieldType, member: Json, names: ResourceNames): string {
  const isRule = type?.type === 'object' && Object.values(type.fields).some(({ isCaption }) => isCaption);
  return isRule ? formatRuleName(type, member) : formatWholeValue(type, member, names);
}

/** The scalars of a value as texts, without nesting and without the keys of objects. `true` gives one empty text. */
export function listScalarTexts(type: OptionalFieldType, value: Json, names: ResourceNames): readonly string[] {
  if (value === true) return [''];
  if (isAbsentOrEmptyCollection(value)) return [];
  if (isJsonArray(value))
    return value.flatMap((member, index) => listScalarTexts(findMemberType(type, index), member, names));
  if (!isJsonObject(value)) return [renderName(type, value, names)];
  return Object.entries(value).flatMap(([key, member]) => {
    if (type?.type === 'map')
      return [`${quoteIfNeeded(names.get(key) ?? key)} (${renderScalar(type.of, member, names)})`];
    return member === true || member === false ? [] : listScalarTexts(findMemberType(type, key), member, names);
  });
}

/** A scalar as text. For a reference, only the name of its target. */
function renderName(type: OptionalFieldType, value: Json, names: ResourceNames): string {
  const isReference = type?.type === 'reference' && typeof value === 'string';
  return isReference ? quoteIfNeeded(names.get(value) ?? value) : renderScalar(type, value, names);
}

/** The maximum number of values of one field in a clause. The change shows all. */
const MAX_VALUES = 3;

/** Returns, for example, `a, b, c and 2 more`. */
export function formatShortList(values: readonly string[]): string {
  const hidden = values.length - MAX_VALUES;
  return hidden > 0 ? `${values.slice(0, MAX_VALUES).join(', ')} and ${hidden} more` : values.join(', ');
}
