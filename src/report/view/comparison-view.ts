import { renderTimeSpan } from '../../kinds/duration.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { type Change, formatAction } from '../../model/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonArray, type Json, toCanonicalJson } from '../../model/json.ts';
import {
  type ChangedSide,
  type ExtraChange,
  type ExtraField,
  HIDDEN_VALUES_PATH,
  isSamePlan,
  type MemberDifference,
  type PlanComparison,
} from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatTokenNote } from '../../model/token-sink.ts';
import type { ComparisonReport } from '../report.ts';
import { type ChangeView, createChangeView } from './change-view.ts';
import { listDangerViews } from './danger-view.ts';
import { toPrintableDiagnostic } from './diagnostic-view.ts';
import {
  createDifferenceView,
  type FieldValueLine,
  type FieldView,
  listTokenCommandFields,
  type ResourceNames,
  type ValueRenderingContext,
} from './field-view.ts';
import { collectPlanAddressesById } from './plan-view.ts';
import { redactComparison } from './redact.ts';
import { formatCount, formatReportSubject } from './wording.ts';

/** The differences between two plans as printable texts in reading order. */
interface ComparisonView {
  readonly title: string;
  /** The result in one sentence. */
  readonly summary: string;
  /** What the user must do. Absent if there is nothing to do. */
  readonly remedy?: string;
  /** Settings, options and consents that differ, each in one sentence. */
  readonly members: readonly string[];
  /** Changes that only the later plan has, then changes that only the earlier plan has. No part is empty. */
  readonly parts: readonly OneSidedChanges[];
  /** The errors of the later plan. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether the later plan is not as approved or as shown. */
  readonly isRefused: boolean;
}

/** Changes that only one of the plans has. */
interface OneSidedChanges {
  readonly part: 'more' | 'less';
  readonly heading: string;
  readonly changes: readonly ChangeView[];
}

/** What the user must do if the plan is not as approved or as shown. */
function formatComparisonRemedy(command: 'apply' | 'question', members: readonly MemberDifference[]): string {
  if (command === 'question') return 'Nothing was written. Run the command again to see the new plan.';
  const hasOption = members.some(({ name }) => name.startsWith('--'));
  return hasOption
    ? 'Nothing was written. Use the options that the plan was made with, or make a new plan and have it approved.'
    : 'Nothing was written. Make a new plan and have it approved.';
}

export function createComparisonView({ command, comparison, names }: ComparisonReport): ComparisonView {
  const redacted = redactComparison(comparison);
  const { before, after, members, more, less } = redacted;
  const words = chooseWords(command, names);
  const ids = new Map([...collectPlanAddressesById(before), ...collectPlanAddressesById(after)]);
  const isSame = isSamePlan(redacted);
  const parts = [
    createPart('more', more, { heading: words.more, other: words.before, names: ids }),
    createPart('less', less, { heading: words.less, other: words.after, names: ids }),
  ];
  return {
    title:
      command === 'diff'
        ? `Plans for ${formatReportSubject(after)} compared`
        : `Plan for ${formatReportSubject(after)} against ${words.names.before}`,
    summary: formatSummary(redacted, words),
    ...(command !== 'diff' && !isSame && { remedy: formatComparisonRemedy(command, members) }),
    members: members.map((member) => formatComparedMember(member, words)),
    parts: parts.filter(({ changes }) => changes.length > 0),
    diagnostics: after.diagnostics.filter(({ severity }) => severity === 'error').map(toPrintableDiagnostic),
    isRefused: command !== 'diff' && !isSame,
  };
}

/** The words for the earlier and the later plan, the headings of the parts, and the names of the plan files. */
interface Words {
  readonly before: string;
  readonly after: string;
  readonly more: string;
  readonly less: string;
  readonly names: ComparisonReport['names'];
  readonly isDiff: boolean;
}

function chooseWords(command: ComparisonReport['command'], names: ComparisonReport['names']): Words {
  const [before, after] = [toPrintable(names.before), toPrintable(names.after)];
  const printable = { before, after };
  if (command === 'diff')
    return {
      before,
      after,
      more: `Only in ${after}, or different from ${before}`,
      less: `Only in ${before}`,
      names: printable,
      isDiff: true,
    };
  const word = command === 'apply' ? 'approved' : 'shown';
  return {
    before: word,
    after: 'now',
    more: `Not ${word}`,
    less: `${word.charAt(0).toUpperCase()}${word.slice(1)}, but not in this plan`,
    names: printable,
    isDiff: false,
  };
}

function formatSummary(comparison: PlanComparison, { names, isDiff }: Words): string {
  const { members, more, less } = comparison;
  const count = members.length + more.length + less.length;
  if (count === 0) return 'Both plans do the same.';
  const differences = formatCount(count, 'difference');
  const hidden = [...more, ...less].filter(isOnlyUncompared).length;
  if (count === hidden)
    return `Both plans do the same, except hidden values of ${formatCount(hidden, 'resource')}, which cannot be compared.`;
  if (isDiff) return `${names.after} does not do the same as ${names.before}: ${differences}.`;
  const sides = listChangedSides([...more, ...less]);
  const why = sides.length === 0 ? '' : ` Changed since then: ${sides.join(', ')}.`;
  return `The plan is not the same as ${names.before}: ${differences}.${why}`;
}

function isOnlyUncompared({ isWhole, fields, dangers }: ExtraChange): boolean {
  return !isWhole && dangers.length === 0 && fields.every(({ isUncompared }) => isUncompared);
}

/** The sides that differ, with the number of changes that each concerns. */
function listChangedSides(changes: readonly ExtraChange[]): readonly string[] {
  const count = (side: ChangedSide): number =>
    changes.filter(({ changed, fields }) =>
      [changed, ...fields.map((field) => field.changed)].some((one) => one === side || one === 'both'),
    ).length;
  const said = [
    ['the manifests', count('manifests')],
    ['what is live', count('live')],
  ] as const;
  return said.filter(([, number]) => number > 0).map(([side, number]) => `${side} (${number})`);
}

const SIDES: Readonly<Record<ChangedSide, string>> = {
  manifests: 'the manifests changed',
  live: 'it changed at the service',
  both: 'the manifests changed, and it changed at the service',
};

function listSideNotes(changed: ChangedSide | undefined): readonly string[] {
  return changed === undefined ? [] : [SIDES[changed]];
}

function formatComparedMember({ name, before: from, after: to }: MemberDifference, { before, after }: Words): string {
  return `${toPrintable(name)}: ${before}: ${formatMemberValue(from)}; ${after}: ${formatMemberValue(to)}`;
}

function formatMemberValue(value: Json | undefined): string {
  if (value === undefined || value === false || (isJsonArray(value) && value.length === 0)) return NOTHING;
  if (value === true) return 'yes';
  const texts = (isJsonArray(value) ? value : [value]).map((one) =>
    typeof one === 'string' ? one : toCanonicalJson(one),
  );
  return toPrintable(texts.join(', '));
}

interface PartContext {
  readonly heading: string;
  /** The word for the other plan, which precedes that plan's value of a field. */
  readonly other: string;
  readonly names: ResourceNames;
}

function createPart(
  part: OneSidedChanges['part'],
  extra: readonly ExtraChange[],
  context: PartContext,
): OneSidedChanges {
  return {
    part,
    heading: context.heading,
    changes: extra.map((one) => createExtraChangeView(one, context)),
  };
}

/**
 * Shows only what differs from the other plan. If the other plan does not change the resource, shows the whole change,
 * as in a plan.
 */
function createExtraChangeView(extra: ExtraChange, { other: word, names }: PartContext): ChangeView {
  const { change, other, fields, dangers, isWhole, changed } = extra;
  const { action } = change;
  if (action === 'no-op') throw new TypeError('a change with the action no-op cannot differ between plans');
  const share = { change, action, differences: change.differences, isContinued: false };
  if (isWhole) {
    const view = createChangeView(share, names);
    const theirs = other === undefined ? [] : [`${word}: ${formatAction(other.action)}`];
    return { ...view, notes: [...listSideNotes(changed), ...theirs, ...view.notes] };
  }
  const context = { kind: findKind(change.kind), names };
  const found = listDangerViews([{ ...change, dangers }], names).map(({ group, said }) => `${group}: it ${said}`);
  const sinks = fields.filter(({ difference }) => difference.path === TOKEN_PATH);
  return {
    ...createChangeView({ ...share, differences: [] }, names),
    dangers: [],
    notes: [
      ...found.map((note) => `not as ${word}: ${note}`),
      ...sinks.flatMap(() => listSinkNotes(change, other, word)),
    ],
    fields: [
      ...fields
        .filter((field) => !sinks.includes(field))
        .map((field) => createExtraFieldView(field, { ...context, word, action })),
      ...sinks.flatMap(() => listTokenCommandFields(change.token, other?.token)),
    ],
    lost: [],
    unchanged: 0,
  };
}

/** The path of the token sink among the fields of a change. */
const TOKEN_PATH = 'token';

function listSinkNotes({ token }: Change, other: Change | undefined, word: string): readonly string[] {
  const format = (sink: Change['token']): string =>
    sink === undefined ? 'its token goes nowhere' : formatTokenNote(sink);
  return [`not as ${word}: ${format(token)}`, `${word}: ${format(other?.token)}`];
}

interface ExtraContext extends ValueRenderingContext {
  readonly word: string;
  readonly action: Change['action'];
}

function createExtraFieldView(field: ExtraField, context: ExtraContext): FieldView {
  const { difference, other, changed, isUncompared } = field;
  const { word, action } = context;
  const shown = createDifferenceView(toReadable(difference), context);
  if (difference.path === HIDDEN_VALUES_PATH) {
    const notes = [isUncompared ? 'cannot be compared' : `not as ${word}`, ...listSideNotes(changed)];
    return { ...shown, path: HIDDEN_VALUES_PATH, inline: undefined, lines: [], notes };
  }
  if (other === undefined) return { ...shown, notes: [...shown.notes, ...listSideNotes(changed)] };
  const theirs = createDifferenceView(toReadable({ ...difference, from: undefined, to: undefined, ...other }), context);
  const side = findSide(action, difference);
  const inline = shown.inline && (side === undefined ? shown.inline : { [side]: shown.inline[side] ?? '' });
  const notes = [...shown.notes, `${word}: ${formatOtherValue(theirs, side)}`, ...listSideNotes(changed)];
  return { ...shown, notes, inline };
}

type Side = 'from' | 'to';

/** The only side of a difference that has a value. Undefined if both sides have one. */
function findSide(action: Change['action'], { field }: Difference): Side | undefined {
  if (action === 'delete' || action === 'release') return 'from';
  return action === 'create' || field === undefined ? 'to' : undefined;
}

/** The other plan's value of a field, on one line. */
function formatOtherValue({ inline, lines }: FieldView, side: Side | undefined): string {
  const list = (role: FieldValueLine['role']) =>
    lines.filter((line) => line.role === role).map(({ text }) => text.trim());
  const { from, to } = inline ?? { from: list('removed').join(', '), to: list('added').join(', ') };
  const said = side === undefined ? `${from || NOTHING} → ${to || NOTHING}` : (side === 'from' ? from : to) || NOTHING;
  return said.length <= MAX_SAID ? said : `${said.slice(0, MAX_SAID)}…`;
}

const NOTHING = '(none)';

/** The maximum number of characters of the other plan's value in a note: two lines of a terminal. */
const MAX_SAID = 160;

/** Formats the values of `lifecycle.valid_for`, which a plan has in milliseconds. */
function toReadable({ from, to, ...rest }: Loose): Parameters<typeof createDifferenceView>[0] {
  const read = (value: Loose['from']) =>
    rest.path === 'lifecycle.valid_for' && typeof value === 'number' ? renderTimeSpan(value) : value;
  return {
    ...rest,
    from: from === undefined ? undefined : (read(from) ?? null),
    to: to === undefined ? undefined : (read(to) ?? null),
  };
}

type Difference = ExtraField['difference'];
type Loose = Omit<Difference, 'from' | 'to'> & { readonly from?: Difference['from']; readonly to?: Difference['to'] };
