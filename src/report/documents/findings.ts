import type { Diagnostic } from '../../model/diagnostic.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Document, ErrorBlock, Sentence } from '../document.ts';
import type { Failure, FailureReport, FormatOptions, ValidationReport } from '../report.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { createErrorView, findServiceErrorRemedy, toFinding } from '../view/finding-wording.ts';
import {
  formatCommandNotCompleted,
  formatCount,
  formatResourceAndFileCounts,
  formatSeverityCounts,
  formatSkippedSentence,
} from '../view/wording.ts';
import { createFinding } from './create-finding.ts';
import { listFindingsBlocks } from './shared-parts.ts';

/** The result of a check of manifests: its diagnostics and, without errors, the number of resources. */
export function createValidationDocument(
  { command, validation }: ValidationReport,
  { locate }: FormatOptions,
): Document {
  const { diagnostics, stack } = validation;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const valid = `${formatResourceAndFileCounts(validation)}: valid`;
  const skipped = formatSkippedSentence(validation.skipped);
  const result: Sentence = { role: 'result', text: `${valid}.` };
  const findings = diagnostics.map(toFinding);
  return {
    command,
    subject: stack,
    headline: errors === 0 ? `✓ ${valid}` : `✗ The manifests are invalid: ${formatCount(errors, 'error')}`,
    notes: [],
    conclusion: [
      ...listFindingSentences(diagnostics),
      ...(errors === 0 ? [result] : []),
      ...(skipped === '' ? [] : [{ role: 'fact', text: skipped, tone: 'muted' } as const]),
    ],
    next: [],
    blocks: listFindingsBlocks(findings),
    findings,
    locate,
    addresses: validation.addresses?.map(toPrintable),
  };
}

/** Why a command did not complete. */
export function createFailureDocument({ failure }: FailureReport, { locate }: FormatOptions): Document {
  const { command, stack } = failure;
  const { diagnostics = [] } = failure;
  const findings = diagnostics.map(toFinding);
  return {
    command: command ?? 'edgewise',
    subject: stack,
    about: stack === undefined ? undefined : `Stack ${quoteIfNeeded(stack)}`,
    headline: `✗ ${formatCommandNotCompleted(command)}`,
    notes: [],
    conclusion: listFindingSentences(diagnostics),
    next: [],
    blocks: [...listFindingsBlocks(findings), ...listErrorBlocks(failure)],
    findings,
    locate,
  };
}

function listErrorBlocks(failure: Failure): readonly ErrorBlock[] {
  const { error, command } = failure;
  if (error === undefined) return [];
  const remedy = error instanceof Error ? findServiceErrorRemedy(error, command) : error.remedy;
  const finding = createFinding('failure', 'error', error.message, { nature: 'failure', remedy });
  return [{ block: 'error', ...createErrorView(error, failure), findings: [finding] }];
}

function listFindingSentences(diagnostics: readonly Diagnostic[]): readonly Sentence[] {
  const found = formatSeverityCounts(diagnostics);
  return found === '' ? [] : [{ role: 'result', text: `${found}.` }];
}
