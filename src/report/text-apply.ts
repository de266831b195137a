import type { ApplyResult, Outcome } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { toPrintable } from '../model/printable.ts';
import { isFullyApplied, toApplyTotals } from './apply-totals.ts';
import { toPaint } from './color.ts';
import { toWord } from './escape.ts';
import { renderDiagnosticLines } from './text-diagnostics.ts';
import { toColumns, toCount, toPadded, wrapBehind } from './text-layout.ts';
import type { TextOptions } from './text-options.ts';
import { toSubject } from './view.ts';

export { createLiveProgress, type LiveProgress } from './live-progress.ts';
export { renderApplyEventText } from './text-event.ts';

type Failed = Extract<Outcome, { readonly outcome: 'failed' }>;
type Skipped = Extract<Outcome, { readonly outcome: 'skipped' }>;
type Applied = Extract<Outcome, { readonly outcome: 'applied' }>;

/** Widest name of a write that ids are aligned to. */
const MAX_NAME_COLUMNS = 56;

/** How an apply ended: what was applied, failed and skipped, where tokens went, totals, what to do next. Ends with a line break. */
export function renderApplyResultText(plan: Plan, result: ApplyResult, options: TextOptions): string {
  const applied = result.outcomes.filter((one) => one.outcome === 'applied');
  const failed = result.outcomes.filter((one) => one.outcome === 'failed');
  const skipped = result.outcomes.filter((one) => one.outcome === 'skipped');
  const sections = [
    renderSection('Applied:', renderApplied(applied, options)),
    renderSection(
      'Failed:',
      failed.flatMap((one) => renderFailed(one, options)),
    ),
    renderSection('Skipped:', renderSkipped(skipped, result, options)),
    renderSection('Tokens:', result.tokens.map(renderToken)),
    renderSection('Files:', result.files.map(renderFile)),
    ...result.diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options)),
    renderTotals(plan, result, options),
    renderSection('Next:', renderNextSteps(plan, result, options)),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function renderSection(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [heading, ...lines];
}

function renderApplied(applied: readonly Applied[], { color }: TextOptions): readonly string[] {
  const paint = toPaint(color);
  const names = applied.map(({ write }) => toPrintable(write.id));
  const column = Math.max(0, ...names.map(toColumns).filter((width) => width <= MAX_NAME_COLUMNS));
  return applied.map((one, index) => {
    const id = one.id === undefined ? '' : toWord(one.id);
    const remark = `${id} ${toRemark(one)}`.trim();
    return `  ${toPadded(names[index] ?? '', column)}  ${paint('muted', remark)}`.trimEnd();
  });
}

function toRemark(one: Applied): string {
  if ('alreadyDone' in one) return '(done before)';
  return 'found' in one ? '(no answer came; found by its mark)' : '';
}

function renderFailed({ write, message, isUnknown }: Failed, { color, width }: TextOptions): readonly string[] {
  const paint = toPaint(color);
  return [
    `  ${paint('error', toPrintable(write.id))}`,
    ...(message.startsWith(`${write.method} `) ? [] : [`    ${toPrintable(`${write.method} ${write.path}`)}`]),
    ...wrapBehind('    ', toPrintable(message), { width, rest: 4 }),
    ...(isUnknown ? wrapBehind('    ', UNKNOWN, { width, rest: 4 }) : []),
  ];
}

const UNKNOWN = 'No answer came that says whether it took effect.';

function renderSkipped(
  skipped: readonly Skipped[],
  { outcomes }: ApplyResult,
  { color, width }: TextOptions,
): readonly string[] {
  const paint = toPaint(color);
  const ends = new Map(outcomes.map(({ write, outcome }) => [write.id, outcome]));
  return skipped.flatMap(({ write, message, waitedFor }) => {
    const waits = waitedFor.map((id) => `waited for ${toPrintable(id)}, which ${toEnd(ends.get(id))}`);
    return [
      `  ${paint('warning', toPrintable(write.id))}`,
      ...(waits.length === 0 ? [toPrintable(message)] : waits).flatMap((why) =>
        wrapBehind('    ', why, { width, rest: 6 }),
      ),
    ];
  });
}

function toEnd(outcome: Outcome['outcome'] | undefined): string {
  if (outcome === undefined) return 'is not in the plan';
  return outcome === 'failed' ? 'failed' : `was ${outcome}`;
}

function renderToken({ address, place, rescued }: ApplyResult['tokens'][number]): string {
  return `  ${toWord(address)}: ${rescued ? 'rescued to ' : ''}${toPrintable(place)}`;
}

function renderFile({ address, path, outcome, message }: ApplyResult['files'][number]): string {
  const what = `${toPrintable(path)} of ${toWord(address)}`;
  return outcome === 'applied' ? `  ${what}` : `  ${what} ${outcome}: ${toPrintable(message ?? '')}`;
}

function renderTotals(plan: Plan, result: ApplyResult, { color, width }: TextOptions): readonly string[] {
  const { applied, alreadyDone, failed, skipped } = toApplyTotals(result);
  const before = alreadyDone === 0 ? '' : ` (${alreadyDone} done before)`;
  const counts = `${toCount(applied, 'write')} applied${before}, ${failed} failed, ${skipped} skipped`;
  const paint = toPaint(color);
  const line = wrapBehind('', `${counts}: ${toSubject(plan)}.`, { width, rest: 2 });
  return line.map((one) => paint(isFullyApplied(result) ? 'strong' : 'error', one));
}

/** What to do about what did not go as planned; nothing when all did. */
function renderNextSteps(plan: Plan, result: ApplyResult, { width }: TextOptions): readonly string[] {
  const failed = result.outcomes.filter((one) => one.outcome === 'failed');
  const hasFailedFiles = result.files.some(({ outcome }) => outcome === 'failed');
  const isCutShort = result.interrupted && result.outcomes.some(({ outcome }) => outcome !== 'applied');
  const steps: readonly (readonly [boolean, string])[] = [
    [
      failed.some(isRefused),
      'The service refused the API key or what it asked for: check the key and its permissions.',
    ],
    [failed.some(isMendable) || hasFailedFiles, 'Mend what failed.'],
    [result.tokens.some(({ rescued }) => rescued), RESCUED],
    [
      failed.length > 0 || hasFailedFiles || isCutShort,
      `Run ${plan.mode} again: what is done stays done, and only the rest is planned.`,
    ],
    [failed.some((one) => one.isUnknown), 'What may have taken effect is found by its mark: nothing is made twice.'],
  ];
  return steps.filter(([applies]) => applies).flatMap(([, step]) => wrapBehind('  ', step, { width, rest: 4 }));
}

const RESCUED = 'Mend the token sink: the next apply replaces the credentials whose tokens were only rescued.';

function isRefused({ isAuthentication }: Failed): boolean {
  return isAuthentication;
}

function isMendable({ isAuthentication, isUnknown }: Failed): boolean {
  return !isAuthentication && !isUnknown;
}
