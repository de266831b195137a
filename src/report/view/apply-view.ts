import { toWriteRequest } from '../../kinds/write-request.ts';
import type { Diagnostic, SourcePlace } from '../../model/diagnostic.ts';
import type { ApplyResult, FileOutcome, Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormOptions } from '../report.ts';
import { toAppliedRemark, toApplySummary, toNotStarted, toWaitClause, UNKNOWN_EFFECT } from './apply-wording.ts';
import { toPrintableDiagnostic, toPrintablePlace } from './diagnostic-view.ts';
import { toWord } from './escape.ts';
import { listNextSteps } from './next-steps.ts';
import { toPlanTitle } from './plan-wording.ts';
import { type ApplyTotals, findNotStarted, isFullyApplied, toApplyTotals } from './totals.ts';
import { toSubject, toWriteName } from './wording.ts';

/** The one view of how an apply ended that all forms for people share: printable texts in reading order. */
export interface ApplyView {
  readonly title: string;
  /** `stack production on https://api.example.com` */
  readonly subject: string;
  /** All of the plan was done, and every token is where it was meant to go. */
  readonly isComplete: boolean;
  readonly totals: ApplyTotals;
  /** The totals in words. */
  readonly summary: string;
  readonly applied: readonly AppliedView[];
  readonly failed: readonly FailedView[];
  /** Of those that were not tried for another reason than an interruption. */
  readonly skipped: readonly SkippedView[];
  /** One sentence for all that the interruption of the run kept from being tried. */
  readonly notStarted?: string;
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
  /** Where its manifest stands; where the service named a field, that field. */
  readonly place?: SourcePlace;
}

/** A write that was not tried, because of what became of others. */
export interface SkippedView {
  readonly name: string;
  /** A clause for each write that it waited for in vain. */
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

/** The view of how an apply of the plan ended. */
export function toApplyView(plan: Plan, result: ApplyResult, options: Pick<FormOptions, 'locate'> = {}): ApplyView {
  const { outcomes, tokens, files, diagnostics } = result;
  const totals = toApplyTotals(result);
  const notStarted = findNotStarted(outcomes);
  const skipped = outcomes.filter((one) => one.outcome === 'skipped').filter(({ write }) => !notStarted.has(write.id));
  const ends = new Map(outcomes.map(({ write, outcome }) => [write.id, outcome]));
  return {
    title: toPlanTitle('apply', plan),
    subject: toSubject(plan),
    isComplete: isFullyApplied(result),
    totals,
    summary: toApplySummary(totals),
    applied: outcomes.filter((one) => one.outcome === 'applied').map(toAppliedView),
    failed: outcomes.filter((one) => one.outcome === 'failed').map((one) => toFailedView(one, options)),
    skipped: skipped.map((one) => toSkippedView(one, ends)),
    ...(notStarted.size > 0 && { notStarted: toNotStarted(Array.from(notStarted.values(), toWriteName)) }),
    tokens: tokens.map((one) => ({ ...one, address: toWord(one.address), place: toPrintable(one.place) })),
    files: files.map(toFileView),
    diagnostics: diagnostics.map(toPrintableDiagnostic),
    next: listNextSteps(plan, result),
  };
}

function toAppliedView(one: Applied): AppliedView {
  const remark = toAppliedRemark(one);
  return {
    name: toWriteName(one.write),
    ...(one.id !== undefined && { id: toWord(one.id) }),
    ...(remark !== undefined && { remark }),
  };
}

function toFailedView(failed: Failed, options: Pick<FormOptions, 'locate'>): FailedView {
  const { write, message, isUnknown } = failed;
  const { method, path } = toWriteRequest(write);
  const place = findFailedPlace(failed, options);
  const isNamed = message.startsWith(`${method} `);
  return {
    name: toWriteName(write),
    ...(!isNamed && { request: toPrintable(`${method} ${path}`) }),
    sentences: [toPrintable(message), ...(isUnknown ? [UNKNOWN_EFFECT] : [])],
    ...(place !== undefined && { place }),
  };
}

/** Where the manifest of a write that failed stands; where the service named a field, that field, with what is written there. */
export function findFailedPlace(
  { write, field }: Failed,
  { locate }: Pick<FormOptions, 'locate'>,
): SourcePlace | undefined {
  const place = locate?.(write.address, field);
  if (place === undefined) return undefined;
  return toPrintablePlace(field === undefined ? { ...place, excerpt: '' } : place);
}

function toSkippedView({ write, waitedFor }: Skipped, ends: ReadonlyMap<string, Outcome['outcome']>): SkippedView {
  return {
    name: toWriteName(write),
    reasons: waitedFor.map((id) => toWaitClause(toPrintable(id), ends.get(id))),
  };
}

function toFileView({ address, path, outcome, message }: FileOutcome): FileView {
  return {
    address: toWord(address),
    path: toPrintable(path),
    outcome,
    ...(message !== undefined && { message: toPrintable(message) }),
  };
}
