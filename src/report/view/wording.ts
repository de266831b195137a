import type { Diagnostic, Severity } from '../../model/diagnostic.ts';
import type { ApplyResult, Outcome } from '../../model/outcome.ts';
import type { Plan, SkippedCounts } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Write } from '../../model/write.ts';
import { quoteIfNeeded } from './escape.ts';

/**
 * All wording that several formats share. Results are printable text. A format escapes, wraps and colours it, and has
 * its own wording only where no other format says the same.
 */

/** Returns, for example, `1 request` or `2 requests`. */
export function formatCount(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** A waiting time, rounded up to seconds, such as `30 s`, `4 min 0 s` or `1 h 27 min`. */
export function formatWaitTime(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns, for example, `2 errors, 1 warning`, without zeros. Empty if there are no diagnostics. */
export function formatSeverityCounts(diagnostics: readonly Diagnostic[]): string {
  const severities: readonly Severity[] = ['error', 'warning'];
  return severities
    .map((severity) => ({ severity, number: diagnostics.filter((one) => one.severity === severity).length }))
    .filter(({ number }) => number > 0)
    .map(({ severity, number }) => formatCount(number, severity))
    .join(', ');
}

export type ReportedStack = Pick<Plan, 'stack' | 'baseUrl'>;

/** Returns, for example, `stack production on https://api.example.com`. */
export function formatReportSubject({ stack, baseUrl }: ReportedStack): string {
  return `stack ${quoteIfNeeded(stack)} on ${formatBaseUrl(baseUrl)}`;
}

function formatBaseUrl(baseUrl: string): string {
  const [scheme, ...file] = baseUrl.split(':');
  if (scheme !== 'embedded') return toPrintable(baseUrl);
  const path = file.join(':');
  return path === '' ? 'the embedded server' : `the embedded server, kept in ${toPrintable(path)}`;
}

export function formatReadRequestsSentence(requests: number): string {
  return `Reading took ${formatCount(requests, 'request')}.`;
}

/** Returns, for example, `create TCPEdge/postgres`. */
export function formatWriteName({ id }: Pick<Write, 'id'>): string {
  return toPrintable(id);
}

/** Joins names for a sentence: at most MAX_NAMES names, then the number of the others. */
export function formatNameList(names: readonly string[]): string {
  const hidden = names.length - MAX_NAMES;
  return hidden > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${hidden} more` : names.join(', ');
}

/** More names would not be read in a sentence. */
const MAX_NAMES = 5;

/** The label before the effect of the next apply on a resource. */
export const NEXT_APPLY_PREFIX = 'next apply';

/** Shown as the new value of a field that its manifest no longer sets. */
export const NO_LONGER_SET_WORDING = '(no longer in the manifest)';

/** Removes zero counts from a list of counts. If all are zero, keeps all. */
export function removeZeroCountsFromText(counts: string): string {
  const some = removeFinalDot(counts)
    .split(/[,;] /)
    .filter((count) => !count.startsWith('0 '));
  return some.length === 0 ? removeFinalDot(counts) : some.join(', ');
}

/** Removes the final full stop, so that a sentence can be part of a longer line. */
export function removeFinalDot(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

export function shortenCommit(commit: string): string {
  return toPrintable(commit.slice(0, SHORT_COMMIT));
}

/** As many as git shows. */
const SHORT_COMMIT = 7;

/** Says what among the manifests is skipped, such as `Skipped: 38 documents of other tools.` Empty if nothing is. */
export function formatSkippedSentence(skipped: SkippedCounts | undefined): string {
  if (skipped === undefined) return '';
  const { documents, files } = skipped;
  const counts = [
    documents === 0 ? '' : `${formatCount(documents, 'document')} of other tools`,
    files === 0 ? '' : `${formatCount(files, 'file')} that spec.skip_files names`,
  ];
  return `Skipped: ${counts.filter(Boolean).join(', ')}.`;
}

/** The number of checked resources and files, such as `5 resources in 2 files`. */
export function formatResourceAndFileCounts({
  files,
  resources,
}: {
  readonly files: number;
  readonly resources: number;
}): string {
  return `${formatCount(resources, 'resource')} in ${formatCount(files, 'file')}`;
}

/** Returns, for example, `edgewise plan did not complete`. */
export function formatCommandNotCompleted(command: string | undefined): string {
  return `${command === undefined ? 'edgewise' : `edgewise ${toPrintable(command)}`} did not complete`;
}

/** The numbers of writes by outcome. */
export interface OutcomeTotals {
  readonly applied: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countWriteOutcomes({ outcomes }: ApplyResult): OutcomeTotals {
  const totals = { applied: 0, failed: 0, skipped: 0 };
  for (const { outcome } of outcomes) totals[outcome] += 1;
  return totals;
}

/**
 * Maps ids to the writes that were not sent because the run was interrupted or the service could not be reached.
 * Includes writes that depended only on such writes.
 */
export function mapNotStartedWritesById(outcomes: readonly Outcome[]): ReadonlyMap<string, Write> {
  const found = new Map<string, Write>();
  const skipped = outcomes.filter((one) => one.outcome === 'skipped');
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { write, waitedFor, isKept } of skipped)
      if (isKept !== true && waitedFor.every((id) => found.has(id))) found.set(write.id, write);
  }
  return found;
}

/** Whether all writes succeeded, and no token had to be rescued. */
export function isFullyApplied({ outcomes, tokens }: ApplyResult): boolean {
  return outcomes.every(({ outcome }) => outcome === 'applied') && !tokens.some(({ rescued }) => rescued);
}
