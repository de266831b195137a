import type { Diagnostic } from '../../model/diagnostic.ts';
import type { ApplyResult, FileOutcome, Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { type ApplyTotals, isFullyApplied, toApplyTotals } from './apply-totals.ts';
import { toWord } from './escape.ts';
import { toSubject } from './plan-view.ts';
import { toPrintableDiagnostic } from './printable-diagnostic.ts';

/** The one view of how an apply ended that all forms for people share: printable texts in reading order. */
export interface ApplyView {
  readonly title: string;
  /** All of the plan was done, and every token is where it was meant to go. */
  readonly isComplete: boolean;
  readonly totals: ApplyTotals;
  readonly applied: readonly AppliedView[];
  readonly failed: readonly FailedView[];
  readonly skipped: readonly SkippedView[];
  /** Where the tokens of new credentials went. */
  readonly tokens: readonly { readonly address: string; readonly place: string; readonly rescued: boolean }[];
  readonly files: readonly FileView[];
  readonly diagnostics: readonly Diagnostic[];
  /** What to do about what did not go as planned, in sentences; empty when all did. */
  readonly next: readonly string[];
}

/** A write that was made. */
export interface AppliedView {
  /** `create TCPEdge/postgres` */
  readonly name: string;
  readonly id?: string;
  /** How it is known, where no answer said so. */
  readonly remark?: string;
}

/** A write that was refused, or of which nothing is known. */
export interface FailedView {
  readonly name: string;
  /** Method and path, unless the message begins with them. */
  readonly request?: string;
  /** Why, then what is not known. */
  readonly sentences: readonly string[];
}

/** A write that was not tried. */
export interface SkippedView {
  readonly name: string;
  /** A clause for each write that it waited for in vain, or why it was not tried. */
  readonly reasons: readonly string[];
}

/** A file that the plan was to write. */
export interface FileView {
  readonly address: string;
  readonly path: string;
  readonly outcome: FileOutcome['outcome'];
  /** Why it was not written. */
  readonly message?: string;
}

type Failed = Extract<Outcome, { readonly outcome: 'failed' }>;
type Skipped = Extract<Outcome, { readonly outcome: 'skipped' }>;
type Applied = Extract<Outcome, { readonly outcome: 'applied' }>;

const TITLES = { apply: 'Apply of', destroy: 'Destroy of', release: 'Release from' } as const satisfies Record<
  Plan['mode'],
  string
>;

/** The view of how an apply of the plan ended. */
export function toApplyView(plan: Plan, result: ApplyResult): ApplyView {
  const { outcomes, tokens, files, diagnostics } = result;
  const ends = new Map(outcomes.map(({ write, outcome }) => [write.id, outcome]));
  return {
    title: `${TITLES[plan.mode]} ${toSubject(plan)}`,
    isComplete: isFullyApplied(result),
    totals: toApplyTotals(result),
    applied: outcomes.filter((one) => one.outcome === 'applied').map(toAppliedView),
    failed: outcomes.filter((one) => one.outcome === 'failed').map(toFailedView),
    skipped: outcomes.filter((one) => one.outcome === 'skipped').map((one) => toSkippedView(one, ends)),
    tokens: tokens.map((one) => ({ ...one, address: toWord(one.address), place: toPrintable(one.place) })),
    files: files.map(toFileView),
    diagnostics: diagnostics.map(toPrintableDiagnostic),
    next: listNextSteps(plan, result),
  };
}

function toAppliedView(one: Applied): AppliedView {
  const remark = toRemark(one);
  return {
    name: toPrintable(one.write.id),
    ...(one.id !== undefined && { id: toWord(one.id) }),
    ...(remark !== undefined && { remark }),
  };
}

function toRemark(one: Applied): string | undefined {
  if ('alreadyDone' in one) return 'done before';
  return 'found' in one ? 'no answer came that could be used; found by its mark' : undefined;
}

function toFailedView({ write, message, isUnknown }: Failed): FailedView {
  const isNamed = message.startsWith(`${write.method} `);
  return {
    name: toPrintable(write.id),
    ...(!isNamed && { request: toPrintable(`${write.method} ${write.path}`) }),
    sentences: [toPrintable(message), ...(isUnknown ? ['No answer came that says whether it took effect.'] : [])],
  };
}

function toSkippedView(
  { write, message, waitedFor }: Skipped,
  ends: ReadonlyMap<string, Outcome['outcome']>,
): SkippedView {
  const waits = waitedFor.map((id) => `waited for ${toPrintable(id)}, which ${toEnd(ends.get(id))}`);
  return { name: toPrintable(write.id), reasons: waits.length === 0 ? [toPrintable(message)] : waits };
}

function toEnd(outcome: Outcome['outcome'] | undefined): string {
  if (outcome === undefined) return 'is not in the plan';
  return outcome === 'failed' ? 'failed' : `was ${outcome}`;
}

function toFileView({ address, path, outcome, message }: FileOutcome): FileView {
  return {
    address: toWord(address),
    path: toPrintable(path),
    outcome,
    ...(message !== undefined && { message: toPrintable(message) }),
  };
}

function listNextSteps(plan: Plan, { outcomes, files, tokens, interrupted }: ApplyResult): readonly string[] {
  const failed = outcomes.filter((one) => one.outcome === 'failed');
  const hasFailedFiles = files.some(({ outcome }) => outcome === 'failed');
  const isCutShort = interrupted && outcomes.some(({ outcome }) => outcome !== 'applied');
  const steps: readonly (readonly [boolean, string])[] = [
    [
      failed.some(isRefused),
      'The service refused the API key or what it asked for: check the key and its permissions.',
    ],
    [failed.some(isMendable) || hasFailedFiles, 'Mend what failed.'],
    [tokens.some(({ rescued }) => rescued), RESCUED],
    [
      failed.length > 0 || hasFailedFiles || isCutShort,
      `Run ${plan.mode} again: what is done stays done, and only the rest is planned.`,
    ],
    [failed.some((one) => one.isUnknown), 'What may have taken effect is found by its mark: nothing is made twice.'],
  ];
  return steps.filter(([applies]) => applies).map(([, step]) => step);
}

const RESCUED = 'Mend the token sink: the next apply replaces the credentials whose tokens were only rescued.';

function isRefused({ isAuthentication }: Failed): boolean {
  return isAuthentication;
}

function isMendable({ isAuthentication, isUnknown }: Failed): boolean {
  return !isAuthentication && !isUnknown;
}
