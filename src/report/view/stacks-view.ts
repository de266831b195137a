import { hasErrors } from '../../model/diagnostic.ts';
import { countDriftStates, hasDrift } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { toPrintable } from '../../model/printable.ts';
import { countActions } from '../../model/totals.ts';
import type { ApplyReport, PlanReport } from '../report.ts';
import type { StackPart, StacksReport } from '../stacks-report.ts';
import { toApplySummary } from './apply-wording.ts';
import { toComparisonView } from './comparison-view.ts';
import { toDriftSummary } from './drift-wording.ts';
import { toWord } from './escape.ts';
import { toFailureView } from './failure-view.ts';
import { toActionCounts } from './plan-wording.ts';
import { toApplyTotals } from './totals.ts';
import { countSeverities, toCount, toReadSentence, toTimeText, toValidationSize } from './wording.ts';

/** One stack of a run in a line. Texts are printable. */
export interface StackRow {
  readonly name: string;
  readonly folder: string;
  /** What it is called above what is said of it. */
  readonly title: string;
  /** What became of it, or what would. */
  readonly said: string;
  /** The least time that an apply takes within the rate limit; empty: none that one notices. */
  readonly time: string;
  /** There is nothing to say of it but this line. */
  readonly isQuiet: boolean;
  /** It came to no result, or its result is refused. */
  readonly isBad: boolean;
}

/** A line for each stack, and what they come to. */
export interface StacksView {
  readonly title: string;
  readonly rows: readonly StackRow[];
  readonly summary: string;
}

/** The view of a run. */
export function toStacksView({ root, parts, selection, requests }: StacksReport): StacksView {
  const rows = parts.map(toRow);
  const bad = rows.filter(({ isBad }) => isBad).length;
  const busy = rows.filter(({ isQuiet, isBad }) => !isQuiet && !isBad).length;
  const counts = [
    ...(busy > 0 ? [`${busy} with something to say`] : []),
    ...(bad > 0 ? [`${bad} failed or refused`] : []),
  ];
  const sum = counts.length === 0 ? 'Nothing to say of any' : counts.join(', ');
  const sentences = [
    toPrintable(selection),
    ...(rows.length === 0 ? [] : [`${sum}.`]),
    ...(requests === undefined ? [] : [toReadSentence(requests)]),
  ];
  return { title: root === '.' ? 'Stacks' : `Stacks below ${toPrintable(root)}`, rows, summary: sentences.join(' ') };
}

/** The name of a stack, and its folder where that has another name. */
export function toStackTitle({ name, folder }: Pick<StackPart, 'name' | 'folder'>): string {
  const shown = name === '' ? '(no name)' : toWord(name);
  return name === folder ? shown : `${shown} (${toPrintable(folder)})`;
}

function toRow(part: StackPart): StackRow {
  const { name, folder, exitCode } = part;
  const shown = {
    name: name === '' ? '(no name)' : toWord(name),
    folder: toPrintable(folder),
    title: toStackTitle(part),
  };
  return { ...shown, time: '', isBad: exitCode !== 0 && exitCode !== 2, ...toSaid(part) };
}

function toSaid({ report }: StackPart): Pick<StackRow, 'said' | 'isQuiet'> & Partial<StackRow> {
  switch (report.about) {
    case 'plan':
      return describePlan(report);
    case 'apply':
      return describeApply(report);
    case 'drift': {
      const { drift } = report;
      const isQuiet = !hasDrift(drift) && drift.diagnostics.length === 0;
      const counts = countDriftStates(drift);
      const said = hasDrift(drift)
        ? withoutZeros(toDriftSummary(counts, false))
        : `no drift, ${counts['in-sync']} in sync`;
      return { said, isQuiet };
    }
    case 'validation': {
      const { diagnostics } = report.validation;
      const found = diagnostics.length === 0 ? '' : `, ${countSeverities(diagnostics)}`;
      return { said: `${toValidationSize(report.validation)}${found}`, isQuiet: diagnostics.length === 0 };
    }
    case 'comparison':
      return { said: trimDot(toComparisonView(report).summary), isQuiet: false };
    case 'failure': {
      const { diagnostics, error } = toFailureView(report.failure);
      const found = diagnostics.length === 0 ? [] : [countSeverities(diagnostics)];
      const first = (error?.lines.slice(0, 1) ?? []).map(trimEnd);
      return { said: [...found, ...first].join(': '), isQuiet: false };
    }
    default:
      return assertNever(report);
  }
}

function describePlan({ plan, standing }: PlanReport): Pick<StackRow, 'said' | 'isQuiet' | 'time'> {
  const { changes, diagnostics, writes, files, requests } = plan;
  const time = requests.leastMs > 0 && writes.length > 0 ? toTimeText(requests.leastMs) : '';
  const found = diagnostics.length === 0 ? [] : [countSeverities(diagnostics)];
  if (hasErrors(diagnostics)) return { said: found.join(''), isQuiet: false, time };
  const refused = standing.length === 0 ? [] : [`refused by ${toCount(standing.length, 'safety rule')}`];
  const counts = writes.length + files.length === 0 ? 'nothing to do' : toShortCounts(countActions(changes));
  const said = [...refused, counts, ...found].join(', ');
  return { said, isQuiet: writes.length + files.length === 0 && [...refused, ...found].length === 0, time };
}

/** Only the actions that there are. */
function toShortCounts(totals: Parameters<typeof toActionCounts>[0]): string {
  const [actions = ''] = toActionCounts(totals).split(';');
  const some = actions.split(', ').filter((action) => !action.startsWith('0 '));
  return some.length === 0 ? 'files to write' : some.join(', ');
}

function describeApply({ plan, result }: ApplyReport): Pick<StackRow, 'said' | 'isQuiet'> {
  if (result.outcomes.length + result.files.length > 0)
    return { said: withoutZeros(toApplySummary(toApplyTotals(result))), isQuiet: false };
  const diagnostics = [...plan.diagnostics, ...result.diagnostics];
  const found = diagnostics.length === 0 ? [] : [countSeverities(diagnostics)];
  return { said: ['nothing to do', ...found].join(', '), isQuiet: diagnostics.length === 0 };
}

/** Of a row of counts those that there are; all of them when there is none. */
function withoutZeros(counts: string): string {
  const some = trimDot(counts)
    .split(/[,;] /)
    .filter((count) => !count.startsWith('0 '));
  return some.length === 0 ? trimDot(counts) : some.join(', ');
}

/** The first line of a message, without what leads to the next one. */
function trimEnd(line: string): string {
  return line.replace(/[.:]$/, '');
}

function trimDot(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
