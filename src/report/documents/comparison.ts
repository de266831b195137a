import { findKind } from '../../kinds/tables/registry.ts';
import { formatAction } from '../../model/change.ts';
import { type ExtraChange, isSamePlan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Document, Entry, EntryDetails, ShownFinding } from '../document.ts';
import type { ComparisonReport, FormatOptions } from '../report.ts';
import {
  chooseComparisonWords,
  createExtraFieldView,
  formatComparedMember,
  formatComparisonRemedy,
  formatComparisonSummary,
  listComparisonDiagnostics,
  listSideNotes,
  listSinkNotes,
  TOKEN_PATH,
} from '../view/comparison-wording.ts';
import { listDangerViews } from '../view/danger-view.ts';
import { listTokenCommandFields } from '../view/field-view.ts';
import { toFinding } from '../view/finding-wording.ts';
import { collectPlanAddressesById } from '../view/plan-headline.ts';
import { redactComparison } from '../view/redact.ts';
import { formatReportSubject, removeFinalDot } from '../view/wording.ts';
import { createFinding } from './create-finding.ts';
import {
  BY_ACTION,
  createChangeEntry,
  createEntriesBlocks,
  createField,
  createPlaceFinder,
  describeChange,
  type EntryContext,
} from './entries.ts';
import { listFindingsBlocks, listHeadedLists } from './shared-parts.ts';

/** The differences between two plans, shown like a plan: changes that only the later one has, then those of the earlier. */
export function createComparisonDocument({ command, ...report }: ComparisonReport, options: FormatOptions): Document {
  const comparison = redactComparison(report.comparison);
  const { before, after, more, less } = comparison;
  const words = chooseComparisonWords(command, report.names);
  const names = new Map([...collectPlanAddressesById(before), ...collectPlanAddressesById(after)]);
  const findPlace = createPlaceFinder(after, options);
  const isRefused = command !== 'diff' && !isSamePlan(comparison);
  const summary = formatComparisonSummary(comparison, words);
  const members = comparison.members.map((member) => formatComparedMember(member, words));
  // A difference from an approved plan, or from one that was shown, is an error. One between two files is a notice.
  const say = (message: string, address?: string): ShownFinding =>
    command === 'diff'
      ? createFinding('plan-differs', 'notice', message, { address })
      : createFinding('not-approved', 'error', message, { address });
  const findings = listComparisonDiagnostics(comparison).map(toFinding);
  const parts = (
    [
      { part: 'more', heading: words.more, items: more, other: words.before },
      { part: 'less', heading: words.less, items: less, other: words.after },
    ] as const
  )
    .filter(({ items }) => items.length > 0)
    .flatMap(({ part, other, ...group }) =>
      createEntriesBlocks([group], { ...BY_ACTION, hasTeams: false }, (extra, number) =>
        createExtraEntry(extra, { anchor: `${part}-${number}`, names, findPlace, other, heading: group.heading, say }),
      ),
    );
  return {
    command: command === 'diff' ? 'diff' : 'plan',
    subject: after.stack,
    title:
      command === 'diff'
        ? `Plans for ${formatReportSubject(after)} compared`
        : `Plan for ${formatReportSubject(after)} against ${words.names.before}`,
    headline: `${isRefused ? '✗ ' : ''}${removeFinalDot(summary)}`,
    notes: [],
    conclusion: [
      { role: 'result', text: summary, tone: isRefused ? 'error' : 'strong' },
      ...(isRefused ? [{ role: 'fact', text: formatComparisonRemedy(command, comparison.members) } as const] : []),
    ],
    next: [],
    blocks: [
      ...listFindingsBlocks(findings),
      ...listHeadedLists('members', members, 'warning').map((block) => ({
        ...block,
        findings: members.map((message) => say(message)),
      })),
      ...parts,
    ],
    findings,
    locate: options.locate,
    addresses: after.changes.map(({ address }) => toPrintable(address)),
  };
}

interface ExtraContext extends EntryContext {
  /** The word for the other plan, which precedes that plan's value of a field. */
  readonly other: string;
  readonly heading: string;
  /** A difference as a finding. */
  readonly say: (message: string, address: string) => ShownFinding;
}

/**
 * Shows only what differs from the other plan. If the other plan does not change the resource, shows the whole change,
 * as in a plan.
 */
function createExtraEntry(extra: ExtraChange, context: ExtraContext): Entry {
  const { change } = extra;
  const { action, differences } = change;
  if (action === 'no-op') throw new TypeError('a change with the action no-op cannot differ between plans');
  const share = { change, action, differences: extra.isWhole ? differences : [], isContinued: false };
  const entry = createChangeEntry(share, context);
  const { address, label } = entry;
  const describe = () => describeExtra(extra, describeChange(share, context), context);
  return {
    ...entry,
    describe,
    listFindings: () => {
      const { fields, notes } = describe();
      const said = [...fields.map(({ path }) => path), ...notes].join(', ');
      const message = `${context.heading}: ${label} ${address}${said === '' ? '' : ` (${said})`}`;
      return [context.say(message, address)];
    },
  };
}

function describeExtra(
  { change, other, fields, dangers, isWhole, changed }: ExtraChange,
  details: EntryDetails,
  { other: word, names, findPlace }: ExtraContext,
): EntryDetails {
  if (isWhole) {
    const theirs = other === undefined ? [] : [`${word}: ${formatAction(other.action)}`];
    return { ...details, notes: [...listSideNotes(changed, word), ...theirs, ...details.notes] };
  }
  const found = listDangerViews([{ ...change, dangers }], names).map(({ group, said }) => `${group}: it ${said}`);
  const sinks = fields.filter(({ difference }) => difference.path === TOKEN_PATH);
  const context = { kind: findKind(change.kind), names, word, action: change.action };
  const shown = [
    ...fields.filter((field) => !sinks.includes(field)).map((field) => createExtraFieldView(field, context)),
    ...sinks.flatMap(() => listTokenCommandFields(change.token, other?.token)),
  ];
  return {
    ...details,
    dangers: [],
    notes: [
      ...found.map((note) => `not as ${word}: ${note}`),
      ...sinks.flatMap(() => listSinkNotes(change, other, word)),
    ],
    fields: shown.map((field) => createField(field, { change, place: details.place, dangers: [], findPlace })),
    lost: [],
    unchanged: 0,
  };
}
