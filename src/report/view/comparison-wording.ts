import { renderTimeSpan } from '../../kinds/duration.ts';
import { type Change, isRemoval } from '../../model/change.ts';
import { isAboutLeftOut } from '../../model/conditions.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonArray, type Json, toCanonicalJson } from '../../model/json.ts';
import {
  type ChangedSide,
  type ExtraChange,
  type ExtraField,
  HIDDEN_VALUES_PATH,
  type MemberDifference,
  type PlanComparison,
} from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatTokenNote } from '../../model/token-sink.ts';
import type { ComparisonReport } from '../report.ts';
import { createDifferenceView, type FieldView, type ValueRenderingContext } from './field-view.ts';
import type { FoldedLine } from './line-diff.ts';
import { formatCount } from './wording.ts';

/** What the user must do if the plan is not as approved or as shown. */
export function formatComparisonRemedy(
  command: ComparisonReport['command'],
  members: readonly MemberDifference[],
): string {
  if (command === 'question') return 'Nothing was written. Run the command again to see the new plan.';
  const hasOption = members.some(({ name }) => name.startsWith('--'));
  return hasOption
    ? 'Nothing was written. Use the options that the plan was made with, or make a new plan and have it approved.'
    : 'Nothing was written. Make a new plan and have it approved.';
}

/** The words for the earlier and the later plan, the headings of the parts, and the names of the plan files. */
export interface ComparisonWords {
  readonly before: string;
  readonly after: string;
  readonly more: string;
  readonly less: string;
  readonly names: ComparisonReport['names'];
  readonly isDiff: boolean;
}

export function chooseComparisonWords(
  command: ComparisonReport['command'],
  names: ComparisonReport['names'],
): ComparisonWords {
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

export function formatComparisonSummary(comparison: PlanComparison, { names, isDiff }: ComparisonWords): string {
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

/** The errors of the later plan, and why it leaves out what the earlier one does. */
export function listComparisonDiagnostics({ after, less }: PlanComparison): readonly Diagnostic[] {
  const leavesOut = less.some(({ changed }) => changed === 'run');
  return after.diagnostics.filter((one) => one.severity === 'error' || (leavesOut && isAboutLeftOut(one)));
}

/** The sides that differ, with the number of changes that each concerns. */
function listChangedSides(changes: readonly ExtraChange[]): readonly string[] {
  const sides = changes.map(({ changed, fields }) => {
    const all = [changed, ...fields.map((field) => field.changed)];
    return all.flatMap((side) => (side === undefined ? [] : SIDES[side].counted));
  });
  const counted = new Set(Object.values(SIDES).flatMap((side) => side.counted));
  return [...counted].flatMap((name) => {
    const { length } = sides.filter((names) => names.includes(name));
    return length === 0 ? [] : [`${name} (${length})`];
  });
}

/** What differs, as a note on a change, and as it is counted in the summary. `other`: the word for the other plan. */
const SIDES: Readonly<
  Record<ChangedSide, { readonly note: (other: string) => string; readonly counted: readonly string[] }>
> = {
  manifests: { note: () => 'the manifests changed', counted: ['the manifests'] },
  live: { note: () => 'it changed at the service', counted: ['what is live'] },
  both: {
    note: () => 'the manifests changed, and it changed at the service',
    counted: ['the manifests', 'what is live'],
  },
  run: { note: (other) => `${other}: left out`, counted: ['what the run leaves out'] },
};

export function listSideNotes(changed: ChangedSide | undefined, other: string): readonly string[] {
  return changed === undefined ? [] : [SIDES[changed].note(other)];
}

export function formatComparedMember(
  { name, before: from, after: to }: MemberDifference,
  { before, after }: ComparisonWords,
): string {
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

/** The path of the token sink among the fields of a change. */
export const TOKEN_PATH = 'token';

export function listSinkNotes({ token }: Change, other: Change | undefined, word: string): readonly string[] {
  const format = (sink: Change['token']): string =>
    sink === undefined ? 'its token goes nowhere' : formatTokenNote(sink);
  return [`not as ${word}: ${format(token)}`, `${word}: ${format(other?.token)}`];
}

interface ExtraContext extends ValueRenderingContext {
  readonly word: string;
  readonly action: Change['action'];
}

export function createExtraFieldView(field: ExtraField, context: ExtraContext): FieldView {
  const { difference, other, changed, isUncompared } = field;
  const { word, action } = context;
  const shown = createDifferenceView(toReadable(difference), context);
  if (difference.path === HIDDEN_VALUES_PATH) {
    const notes = [isUncompared ? 'cannot be compared' : `not as ${word}`, ...listSideNotes(changed, word)];
    return { ...shown, path: HIDDEN_VALUES_PATH, inline: undefined, lines: [], notes };
  }
  if (other === undefined) return { ...shown, notes: [...shown.notes, ...listSideNotes(changed, word)] };
  const theirs = createDifferenceView(toReadable({ ...difference, from: undefined, to: undefined, ...other }), context);
  const side = findSide(action, difference);
  const inline = shown.inline && (side === undefined ? shown.inline : { [side]: shown.inline[side] ?? '' });
  const notes = [...shown.notes, `${word}: ${formatOtherValue(theirs, side)}`, ...listSideNotes(changed, word)];
  return { ...shown, notes, inline };
}

type Side = 'from' | 'to';

/** The only side of a difference that has a value. Undefined if both sides have one. */
function findSide(action: Change['action'], { field }: Difference): Side | undefined {
  if (isRemoval({ action })) return 'from';
  return action === 'create' || field === undefined ? 'to' : undefined;
}

/** The other plan's value of a field, on one line. */
function formatOtherValue({ inline, lines }: FieldView, side: Side | undefined): string {
  const list = (role: FoldedLine['role']) => lines.filter((line) => line.role === role).map(({ text }) => text.trim());
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
