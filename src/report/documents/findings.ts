import { stripDuplicateId } from '../../model/address.ts';
import { formatChangeAddress } from '../../model/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { toManifestPath } from '../../model/field-path.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Document, FindingRule, Sentence, ShownFinding } from '../document.ts';
import type { FailureReport, FormatOptions, ValidationReport } from '../report.ts';
import type { DangerView } from '../view/danger-view.ts';
import { quoteIfNeeded, toPrintableLines } from '../view/escape.ts';
import { createFailureView, findServiceErrorRemedy, toFinding, toPrintablePlace } from '../view/finding-wording.ts';
import {
  formatCommandNotCompleted,
  formatCount,
  formatResourceAndFileCounts,
  formatSeverityCounts,
  formatSkippedSentence,
} from '../view/wording.ts';
import { listFindingsBlocks } from './entries.ts';

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
    blocks: listFindingsBlocks(diagnostics.map(toFinding)),
    ...describeFindings(options, () => diagnostics.map(toFinding)),
    addresses: validation.addresses?.map(toPrintable),
  };
}

/** Why a command did not complete. */
export function createFailureDocument({ failure }: FailureReport, options: FormatOptions): Document {
  const { command, stack } = failure;
  const { findings, error } = createFailureView(failure);
  const { diagnostics = [] } = failure;
  return {
    command: command ?? 'edgewise',
    subject: stack,
    about: stack === undefined ? undefined : `Stack ${quoteIfNeeded(stack)}`,
    headline: `✗ ${formatCommandNotCompleted(command)}`,
    notes: [],
    conclusion: listFindingSentences(diagnostics),
    next: [],
    blocks: [...listFindingsBlocks(findings), ...(error === undefined ? [] : [{ block: 'error', ...error } as const])],
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
      ...findings,
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
  listFindings: () => readonly ShownFinding[],
): Pick<Document, 'listFindings' | 'place'> {
  return {
    listFindings: () =>
      listFindings().map((listed) => {
        const finding = listed.nature === 'refusal' ? joinRefusal(listed) : listed;
        const { place, address, field } = finding;
        if (place !== undefined || address === undefined) return finding;
        const found = locate?.(stripDuplicateId(address), toManifestPath(field));
        return { ...finding, place: found && toPrintablePlace(found) };
      }),
    place: locate?.(),
  };
}

/** A finding that is no diagnostic. Its texts become printable. */
export function createFinding(
  rule: FindingRule,
  level: ShownFinding['level'],
  message: string,
  { address, remedy, ...more }: Omit<ShownFinding, 'rule' | 'level' | 'message'> = {},
): ShownFinding {
  return {
    ...more,
    rule,
    level,
    message: toPrintable(message),
    remedy: remedy === undefined ? undefined : toPrintableLines(remedy).join('\n'),
    address: address === undefined ? undefined : toPrintable(address),
  };
}

export function createDangerFinding(
  rule: FindingRule,
  { address, said, group, change, manifestPath: field }: DangerView,
  { level, nature }: Pick<ShownFinding, 'level' | 'nature'>,
): ShownFinding {
  const message = `${address} ${said} (${group})`;
  return createFinding(rule, level, message, { address: formatChangeAddress(change), nature, group, field });
}

/** The maximum number of addresses that the message of a refusal lists. The report has all. */
const MAX_LISTED = 10;

/**
 * A refusal as one text with one position: the first place is the resource's manifest. If a policy refuses no resource,
 * its only place is the policy.
 */
function joinRefusal(finding: ShownFinding): ShownFinding {
  const { rule, message, addresses = [], related = [] } = finding;
  const more = addresses.length > MAX_LISTED ? [`${addresses.length - MAX_LISTED} more`] : [];
  const listed = [...addresses.slice(0, MAX_LISTED), ...more].join(', ');
  const [own, ...others] = related.length > 1 || rule !== 'policy' ? related : [undefined, ...related];
  return {
    ...finding,
    message: addresses.length > 1 ? `${message} They are ${listed}.` : message,
    address: addresses[0],
    place: own?.place,
    related: others.flatMap((one) => one ?? []),
  };
}
