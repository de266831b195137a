import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Document, Sentence } from '../document.ts';
import type { FailureReport, ValidationReport } from '../report.ts';
import { createFailureView, toPrintableDiagnostic } from '../view/diagnostic-view.ts';
import {
  formatCommandNotCompleted,
  formatCount,
  formatResourceAndFileCounts,
  formatSeverityCounts,
  formatSkippedSentence,
} from '../view/wording.ts';
import { listDiagnosticsBlocks } from './entries.ts';

/** The result of a check of manifests: its diagnostics and, without errors, the number of resources. */
export function createValidationDocument({ command, validation }: ValidationReport): Document {
  const { diagnostics, stack } = validation;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const valid = `${formatResourceAndFileCounts(validation)}: valid`;
  const skipped = formatSkippedSentence(validation.skipped);
  const result: Sentence = { role: 'result', text: `${valid}.` };
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
    blocks: listDiagnosticsBlocks(diagnostics.map(toPrintableDiagnostic)),
  };
}

/** Why a command did not complete. */
export function createFailureDocument({ failure }: FailureReport): Document {
  const { command, stack } = failure;
  const { diagnostics, error } = createFailureView(failure);
  return {
    command: command ?? 'edgewise',
    subject: stack,
    headline: `✗ ${formatCommandNotCompleted(command)}`,
    notes: [],
    conclusion: listFindingSentences(diagnostics),
    next: [],
    blocks: [
      ...listDiagnosticsBlocks(diagnostics),
      ...(error === undefined ? [] : [{ block: 'error', ...error } as const]),
    ],
  };
}

function listFindingSentences(diagnostics: readonly Diagnostic[]): readonly Sentence[] {
  const found = formatSeverityCounts(diagnostics);
  return found === '' ? [] : [{ role: 'result', text: `${found}.` }];
}
