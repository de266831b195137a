import { formatAction } from '../../model/change.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Document } from '../document.ts';
import type { ComparisonReport, FormatOptions } from '../report.ts';
import { createComparisonView } from '../view/comparison-view.ts';
import { removeFinalDot } from '../view/wording.ts';
import {
  BY_ACTION,
  createChangeEntry,
  createEntriesBlocks,
  createPlaceFinder,
  listDiagnosticsBlocks,
} from './entries.ts';
import { createDiagnosticFinding, createFinding, describeFindings } from './findings.ts';
import { listListBlocks } from './plan.ts';

/** The differences between two plans, shown like a plan. */
export function createComparisonDocument(report: ComparisonReport, options: FormatOptions): Document {
  const { title, summary, remedy, members, parts, diagnostics, isRefused } = createComparisonView(report);
  const { after } = report.comparison;
  const findPlace = createPlaceFinder(after, options);
  return {
    command: report.command === 'diff' ? 'diff' : 'plan',
    subject: after.stack,
    title,
    headline: `${isRefused ? '✗ ' : ''}${removeFinalDot(summary)}`,
    notes: [],
    conclusion: [
      { role: 'result', text: summary, tone: isRefused ? 'error' : 'strong' },
      ...(remedy === undefined ? [] : [{ role: 'fact', text: remedy } as const]),
    ],
    next: [],
    blocks: [
      ...listDiagnosticsBlocks(diagnostics),
      ...listListBlocks('members', members, 'warning'),
      ...parts.flatMap(({ part, heading, changes }) =>
        createEntriesBlocks([{ heading, items: changes }], { ...BY_ACTION, hasOwners: false }, (change, number) =>
          createChangeEntry(change, () => change, { anchor: `${part}-${number}`, findPlace }),
        ),
      ),
    ],
    // A difference from an approved plan, or from one that was shown, is an error. One between two files is a notice.
    ...describeFindings(options, () => {
      const [rule, level] =
        report.command === 'diff' ? (['plan-differs', 'notice'] as const) : (['not-approved', 'error'] as const);
      return [
        ...members.map((message) => createFinding(rule, level, message)),
        ...parts.flatMap(({ heading, changes }) =>
          changes.map(({ address, action, fields, notes }) => {
            const more = [...fields.map(({ path }) => path), ...notes].join(', ');
            const message = `${heading}: ${formatAction(action)} ${address}${more === '' ? '' : ` (${more})`}`;
            return createFinding(rule, level, message, { address });
          }),
        ),
        ...diagnostics.map(createDiagnosticFinding),
      ];
    }),
    addresses: after.changes.map(({ address }) => toPrintable(address)),
  };
}
