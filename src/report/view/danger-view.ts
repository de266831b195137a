import type { Kind } from '../../kinds/kind.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { findAccessRuleCaption, findMemberType } from '../../kinds/walk.ts';
import { type Change, formatChangeAddress } from '../../model/change.ts';
import {
  countDangersByGroup,
  DANGER_GROUP_NAMES,
  DANGERS,
  type Danger,
  type DangerGroup,
  type DangerGroupCounts,
  type DangerName,
} from '../../model/danger.ts';
import { assertNever } from '../../model/errors.ts';
import { parsePath, pathsOverlap, toManifestPath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, toDigest } from '../../model/json.ts';
import type { Place } from '../../model/place.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatJson } from '../../model/secret-value.ts';
import type { FormatOptions, Report } from '../report.ts';
import { quoteIfNeeded } from './escape.ts';
import { type FieldView, formatPathWithTargetName, listFieldValuesForSearch } from './field-view.ts';
import { formatTeam } from './plan-wording.ts';
import {
  findFieldType,
  isAbsentOrEmptyCollection,
  type OptionalFieldType,
  type ResourceNames,
  renderScalar,
} from './value-text.ts';
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
  /** Absent if neither the manifest nor the mark names a team. */
  readonly team?: string;
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
    const { dangers = [], kind } = change;
    const team = formatTeam(change);
    const address = quoteIfNeeded(formatChangeAddress(change));
    const whose = team === undefined ? {} : { team };
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
      const manifestPath = findWrittenPath(change, { path, kind: findKind(kind), names });
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
function findWrittenPath(
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
): Place | undefined {
  const { address, place } = change;
  if (place === undefined) return undefined;
  const found = path === undefined || path.startsWith('mark.') ? undefined : locate?.(address, toManifestPath(path));
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

/** Returns, for example, `3 dangers (2 access, 1 secret)`. Empty if there are no dangers. */
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

/** Returns, for example, `3 dangers (2 access, 1 secret)`. Empty if there are no dangers. */
export function formatDangerCounts(counts: DangerGroupCounts): string {
  const groups = DANGER_GROUP_NAMES.filter((group) => counts[group] > 0);
  const total = groups.reduce((sum, group) => sum + counts[group], 0);
  if (total === 0) return '';
  const names = groups.map((group) =>
    group === 'secrets' ? formatCount(counts[group], 'secret') : `${counts[group]} ${group}`,
  );
  return `${formatCount(total, 'danger')} (${names.join(', ')})`;
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

/** The clause of a danger. `DANGERS` has its words. */
function createClause(danger: Danger, context: ClauseContext): Clause {
  const { [context.tense]: template } = pickClauses(danger, context);
  const fillIn: Readonly<Record<string, () => string>> = {
    path: () => toPrintable(danger.path ?? ''),
    rule: () => formatRuleName(findDangerType(danger, context), danger.to ?? danger.from ?? null),
    missing: () => (isUniqueField(danger, context) ? 'a resource' : `its ${toPrintable(danger.path ?? '')}`),
    during: () => formatGapTime(danger),
    token: () => formatToken(danger, context),
    old: () => `${context.change.action === 'replace' ? 'old ' : ''}${context.kind?.title ?? 'resource'}`,
    owner: () => quoteIfNeeded(String(danger.from)),
  };
  const lead = template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => fillIn[name]?.() ?? whole);
  const values = formatClauseValues(danger, context);
  // Words that need no values have no colon of their own.
  const isOpen = values !== '' && hasColon(danger.danger) && !lead.endsWith(':');
  return { lead: isOpen ? `${lead}:` : lead, values };
}

function pickClauses({ danger, path, from }: Danger, { kind, change }: ClauseContext): Readonly<Record<Tense, string>> {
  const { ofWhole, ofRestriction, ofDeleted, ...words } = DANGERS[danger];
  const isWhole = danger === 'gap' ? from === undefined : path === undefined;
  const unset = danger === 'unrestricted' ? kind?.fields[path ?? '']?.summary?.unset : undefined;
  if (unset !== undefined) return { planned: unset, happened: unset };
  return (
    (isWhole ? ofWhole : undefined) ??
    (kind?.restrictsAccess === true ? ofRestriction : undefined) ??
    (change.action === 'delete' ? ofDeleted : undefined) ??
    words
  );
}

function hasColon(danger: DangerName): boolean {
  return danger === 'unrestricted' || DANGERS[danger].values === 'rule';
}

function findDangerType({ path = '' }: Danger, { kind }: ClauseContext): OptionalFieldType {
  return kind === undefined ? undefined : findFieldType(kind, path);
}

function isUniqueField({ path = '' }: Danger, { kind }: ClauseContext): boolean {
  return kind?.fields[path]?.unique === true;
}

/** The values that follow the words of a danger. Empty if there are none. */
function formatClauseValues(danger: Danger, context: ClauseContext): string {
  const { names } = context;
  const path = toPrintable(danger.path ?? '');
  if (danger.path === undefined && danger.danger === 'restriction-removed') return '';
  const type = findDangerType(danger, context);
  const [before, after] = [danger.from, danger.to].map((side) => formatDangerValue(type, side, names));
  const { values } = DANGERS[danger.danger];
  switch (values) {
    case 'sides':
      return before === NOTHING && after === NOTHING ? path : `${path} ${before} → ${after}`;
    case 'added':
      return `${path} + ${after}`;
    case 'lost':
      return `${path} ${before}`;
    case 'gap':
      return formatGapValues(danger, context);
    case 'kept':
      // A disabled field keeps its values, so show the same values only once.
      return typeof danger.from === 'boolean' ? `${path} ${before} → ${after}` : `${path} (${before})`;
    case 'former':
      return toPrintable(String(danger.from));
    case 'new':
      return toPrintable(String(danger.to ?? ''));
    case 'rule':
      return listRuleParts(type, { from: danger.from, to: danger.to }, names).join('; ');
    case 'path':
      return path;
    case 'nothing':
      return '';
    default:
      return assertNever(values);
  }
}

function formatToken({ to }: Danger, { change }: ClauseContext): string {
  return `${change.action === 'create' ? 'its first token' : 'a new token'}${to === undefined ? '' : ', which goes to'}`;
}

function formatGapTime({ writes = 0, limitMs }: Danger): string {
  const time =
    limitMs === undefined
      ? ''
      : `, which ${writes === 1 ? 'takes' : 'take'} ${formatWaitTime(limitMs)} once the rate limit is reached`;
  return `during ${formatCount(writes, 'write')}${time}`;
}

function formatGapValues(danger: Danger, context: ClauseContext): string {
  const { path = '', from } = danger;
  if (from === undefined) return '';
  const given = toPrintable(isJsonArray(from) ? from.map(String).join(', ') : String(from));
  return isUniqueField(danger, context) ? `${toPrintable(path)} ${given}` : given;
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
