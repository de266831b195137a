import { renderTimeSpan } from '../../kinds/duration.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { type Change, formatAction } from '../../model/change.ts';
import {
  type ExtraChange,
  type ExtraChanges,
  type ExtraField,
  isCoveredByApproval,
  isSamePlan,
} from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatTokenNote } from '../../model/token-sink.ts';
import type { ComparisonReport } from '../report.ts';
import { type ChangeView, createChangeView } from './change-view.ts';
import { type DangerView, listDangerViews } from './danger-view.ts';
import {
  createDifferenceView,
  type FieldValueLine,
  type FieldView,
  listTokenCommandFields,
  type ResourceNames,
  type ValueRenderingContext,
} from './field-view.ts';
import { collectPlanAddressesById, formatPlannedFileSentence } from './plan-view.ts';
import { redactComparison } from './redact.ts';
import { formatCount, formatReportSubject } from './wording.ts';

/** The differences between two plans as printable texts in reading order. */
export interface ComparisonView {
  readonly title: string;
  /** The result in one sentence. */
  readonly summary: string;
  /** What the user must do. Absent if there is nothing to do. */
  readonly remedy?: string;
  /** Changes that only the later plan has, then changes that only the earlier plan has. No part is empty. */
  readonly parts: readonly OneSidedChanges[];
  readonly isSame: boolean;
  /** Whether the later plan does something that was not approved. */
  readonly isRefused: boolean;
}

/** Changes and files that only one of the plans has. */
export interface OneSidedChanges {
  readonly part: 'more' | 'less';
  readonly heading: string;
  readonly changes: readonly ChangeView[];
  readonly files: readonly string[];
}

/** Remedy if a plan does something that was not approved. */
const REMEDY = 'Nothing was written. Make a new plan and have it approved.';

export function createComparisonView({ command, comparison, names }: ComparisonReport): ComparisonView {
  const redacted = redactComparison(comparison);
  const { before, after, more, less } = redacted;
  const words = chooseWords(command, names);
  const ids = new Map([...collectPlanAddressesById(before), ...collectPlanAddressesById(after)]);
  const isRefused = command === 'apply' && !isCoveredByApproval(redacted);
  const parts = [
    createPart('more', more, { heading: words.more, other: words.before, names: ids }),
    createPart('less', less, { heading: words.less, other: words.after, names: ids }),
  ];
  return {
    title:
      command === 'apply'
        ? `Plan for ${formatReportSubject(after)} against ${words.names.before}`
        : `Plans for ${formatReportSubject(after)} compared`,
    summary: formatSummary(redacted, words),
    ...(isRefused && { remedy: REMEDY }),
    parts: parts.filter(({ changes, files }) => changes.length + files.length > 0),
    isSame: isSamePlan(redacted),
    isRefused,
  };
}

/** The words for the earlier and the later plan, the headings of the parts, and the names of the plan files. */
interface Words {
  readonly before: string;
  readonly after: string;
  readonly more: string;
  readonly less: string;
  readonly names: ComparisonReport['names'];
}

function chooseWords(command: ComparisonReport['command'], names: ComparisonReport['names']): Words {
  const [before, after] = [toPrintable(names.before), toPrintable(names.after)];
  const printable = { before, after };
  return command === 'apply'
    ? {
        before: 'approved',
        after: 'now',
        more: 'Not approved',
        less: 'Approved, but not in this plan',
        names: printable,
      }
    : {
        before,
        after,
        more: `Only in ${after}, or different from ${before}`,
        less: `Only in ${before}`,
        names: printable,
      };
}

function formatSummary(comparison: Parameters<typeof isCoveredByApproval>[0], { names }: Words): string {
  const { mismatch, more, less } = comparison;
  if (mismatch !== undefined) return `${names.after} and ${names.before} cannot be compared: ${toPrintable(mismatch)}.`;
  const [added, gone] = [countExtraChanges(more), countExtraChanges(less)];
  if (added + gone === 0) return 'Both plans do the same.';
  if (added === 0) return `${names.after} is a subset of ${names.before}: ${formatCount(gone, 'change')} fewer.`;
  const rest = gone === 0 ? '' : ` It lacks ${formatCount(gone, 'other difference')}.`;
  return `${names.after} contains what ${names.before} does not: ${formatCount(added, 'difference')}.${rest}`;
}

function countExtraChanges({ changes, files }: ExtraChanges): number {
  return changes.length + files.length;
}

interface PartContext {
  readonly heading: string;
  /** The word for the other plan, which precedes that plan's value of a field. */
  readonly other: string;
  readonly names: ResourceNames;
}

function createPart(
  part: OneSidedChanges['part'],
  { changes, files }: ExtraChanges,
  context: PartContext,
): OneSidedChanges {
  return {
    part,
    heading: context.heading,
    changes: changes.map((extra) => createExtraChangeView(extra, context)),
    files: files.map(formatPlannedFileSentence),
  };
}

/**
 * Shows only what differs from the other plan. If the other plan does not change the resource, shows the whole change,
 * as in a plan.
 */
function createExtraChangeView(extra: ExtraChange, { other: word, names }: PartContext): ChangeView {
  const { change, other, fields, dangers, notes } = extra;
  const { action } = change;
  if (action === 'no-op') throw new TypeError('a change with the action no-op cannot differ between plans');
  const share = { change, action, differences: change.differences, isContinued: false };
  if (other === undefined) return createChangeView(share, names);
  if (other.action !== action && fields.length === 0) {
    const view = createChangeView(share, names);
    return { ...view, notes: [`${word}: ${formatAction(other.action)}`, ...view.notes] };
  }
  const context = { kind: findKind(change.kind), names };
  const said = [...listDangerViews([{ ...change, dangers }], names).map(formatDangerNote), ...notes.map(toPrintable)];
  const theirs = notes.length === 0 || other.token === undefined ? [] : [`${word}: ${formatTokenNote(other.token)}`];
  return {
    ...createChangeView({ ...share, differences: [] }, names),
    dangers: [],
    notes: [...said.map((note) => `not as ${word}: ${note}`), ...theirs],
    fields: [
      ...fields.map((field) => createExtraFieldView(field, { ...context, word, action })),
      ...(notes.length === 0 ? [] : listTokenCommandFields(change.token, other.token)),
    ],
    lost: [],
    unchanged: 0,
  };
}

function formatDangerNote({ group, said }: DangerView): string {
  return `${group}: it ${said}`;
}

interface ExtraContext extends ValueRenderingContext {
  readonly word: string;
  readonly action: Change['action'];
}

function createExtraFieldView({ difference, other }: ExtraField, context: ExtraContext): FieldView {
  const { word, action } = context;
  const shown = createDifferenceView(toReadable(difference), context);
  if (other === undefined) return shown;
  const theirs = createDifferenceView(toReadable({ ...difference, from: undefined, to: undefined, ...other }), context);
  const side = findSide(action, difference);
  const inline = shown.inline && (side === undefined ? shown.inline : { [side]: shown.inline[side] ?? '' });
  const notes = [...shown.notes, `${word}: ${formatOtherValue(theirs, side)}`];
  return { ...shown, notes, ...(inline !== undefined && { inline }) };
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
    ...(from !== undefined && { from: read(from) ?? null }),
    ...(to !== undefined && { to: read(to) ?? null }),
  };
}

type Difference = ExtraField['difference'];
type Loose = Omit<Difference, 'from' | 'to'> & { readonly from?: Difference['from']; readonly to?: Difference['to'] };
