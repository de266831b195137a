import { stripDuplicateId } from '../../model/address.ts';
import { formatChangeAddress } from '../../model/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { SafetyViolation } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Document, Finding, FindingRule, Sentence } from '../document.ts';
import type { FailureReport, FormatOptions, ValidationReport } from '../report.ts';
import type { DangerView } from '../view/danger-view.ts';
import {
  createFailureView,
  findServiceErrorRemedy,
  toPrintableDiagnostic,
  toPrintablePlace,
} from '../view/diagnostic-view.ts';
import { quoteIfNeeded, toPrintableLines } from '../view/escape.ts';
import {
  formatCommandNotCompleted,
  formatCount,
  formatResourceAndFileCounts,
  formatSeverityCounts,
  formatSkippedSentence,
} from '../view/wording.ts';
import { listDiagnosticsBlocks } from './entries.ts';

/** The result of a check of manifests: its diagnostics and, without errors, the number of resources. */
export function createValidationDocument({ command, validation }: ValidationReport, options: FormatOptions): Document {
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
    ...describeFindings(options, () => diagnostics.map(createDiagnosticFinding)),
    addresses: validation.addresses?.map(toPrintable),
  };
}

/** Why a command did not complete. */
export function createFailureDocument({ failure }: FailureReport, options: FormatOptions): Document {
  const { command, stack } = failure;
  const { diagnostics, error } = createFailureView(failure);
  return {
    command: command ?? 'edgewise',
    subject: stack,
    about: stack === undefined ? undefined : `Stack ${quoteIfNeeded(stack)}`,
    headline: `✗ ${formatCommandNotCompleted(command)}`,
    notes: [],
    conclusion: listFindingSentences(diagnostics),
    next: [],
    blocks: [
      ...listDiagnosticsBlocks(diagnostics),
      ...(error === undefined ? [] : [{ block: 'error', ...error } as const]),
    ],
    ...describeFindings(options, () => [
      ...(failure.error === undefined
        ? []
        : [
            createFinding('failure', 'error', failure.error.message, {
              nature: 'failure',
              remedy:
                failure.error instanceof Error ? findServiceErrorRemedy(failure.error, command) : failure.error.remedy,
            }),
          ]),
      ...diagnostics.map(createDiagnosticFinding),
    ]),
  };
}

function listFindingSentences(diagnostics: readonly Diagnostic[]): readonly Sentence[] {
  const found = formatSeverityCounts(diagnostics);
  return found === '' ? [] : [{ role: 'result', text: `${found}.` }];
}

/** The findings of a document, each with the position of its field or, without a field, of its resource's manifest. */
export function describeFindings(
  { locate }: FormatOptions,
  listFindings: () => readonly Finding[],
): Pick<Document, 'listFindings' | 'place'> {
  return {
    listFindings: () =>
      listFindings().map((finding) => {
        const { place, address, field } = finding;
        if (place !== undefined || address === undefined) return finding;
        const found = locate?.(stripDuplicateId(address), field);
        return { ...finding, place: found && toPrintablePlace(found) };
      }),
    place: locate?.(),
  };
}

/** A finding that is no diagnostic. Its texts become printable. */
export function createFinding(
  rule: FindingRule,
  level: Finding['level'],
  message: string,
  { address, remedy, ...more }: Omit<Finding, 'rule' | 'level' | 'message'> = {},
): Finding {
  return {
    ...more,
    rule,
    level,
    message: toPrintable(message),
    remedy: remedy === undefined ? undefined : toPrintableLines(remedy).join('\n'),
    address: address === undefined ? undefined : toPrintable(address),
  };
}

export function createDiagnosticFinding(diagnostic: Diagnostic): Finding {
  const { code, severity, message, remedy, address, field, place, related } = toPrintableDiagnostic(diagnostic);
  return { rule: toPrintable(code), level: severity, message, remedy, address, field, place, related };
}

export function createViolationFinding({ rule, message, remedy, addresses, places = [] }: SafetyViolation): Finding {
  const [address, ...others] = addresses;
  const said = others.length === 0 ? message : `${message} ${formatAddresses(addresses)}`;
  const related = places.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) }));
  // The first place is the resource's manifest. If a policy violation has no resource, its only place is the policy.
  const own = related.length > 1 || rule !== 'policy' ? related.shift() : undefined;
  return createFinding(rule, 'error', said, { remedy, address, place: own?.place, related });
}

export function createDangerFinding(
  rule: FindingRule,
  { address, said, group, change, manifestPath: field }: DangerView,
  { level, nature }: Pick<Finding, 'level' | 'nature'>,
): Finding {
  const message = `${address} ${said} (${group})`;
  return createFinding(rule, level, message, { address: formatChangeAddress(change), nature, group, field });
}

/** The maximum number of addresses that a finding lists. The report has all. */
const MAX_LISTED = 10;

function formatAddresses(addresses: readonly string[]): string {
  const more = addresses.length > MAX_LISTED ? [`${addresses.length - MAX_LISTED} more`] : [];
  return `They are ${[...addresses.slice(0, MAX_LISTED), ...more].join(', ')}.`;
}
