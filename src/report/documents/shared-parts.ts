import { type Change, formatChangeAddress } from '../../model/change.ts';
import { countDangersByGroup } from '../../model/danger.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import {
  type Block,
  type FindingsBlock,
  type ListBlock,
  type Sentence,
  type ShownFinding,
  type Span,
  type TableBlock,
  type Text,
  toCode,
} from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { type DangerView, formatDangerCounts } from '../view/danger-view.ts';
import { DUE_DAYS, listDue } from '../view/due-view.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { listLeftNotes, listSpellingNotes } from '../view/left-values.ts';
import { describeTargetLimit, formatExitSentence, PLAN_LIST_HEADINGS } from '../view/plan-wording.ts';
import type { ResourceNames } from '../view/value-text.ts';
import { formatCount, formatSeverityCounts, shortenCommit } from '../view/wording.ts';

/** Parts that the documents of several reports have: of a plan, of drift, of an apply, of a comparison, of a run. */

/** Sentences that point to diagnostics and dangers. Empty texts are left out by `listSaid`. */
export function listPointers(diagnostics: readonly Diagnostic[], dangers: readonly DangerView[]): readonly Sentence[] {
  const dangerCount = formatDangerCounts(countDangersByGroup(dangers));
  return [
    { role: 'pointer', to: 'diagnostics', text: formatSeverityCounts(diagnostics), tone: 'warning' },
    { role: 'pointer', to: 'dangers', text: dangerCount === '' ? '' : `! ${dangerCount}`, tone: 'error' },
  ];
}

/** Leaves out sentences without a text. */
export function listSaid(sentences: readonly Sentence[]): readonly Sentence[] {
  return sentences.filter(({ text }) => text !== '');
}

/** What limits a plan or drift: targets, and ids that are known only after another stack is applied. */
export function listLimitNotes({
  targets,
  exclusions,
  crossStackReferences = {},
}: Pick<Plan, 'targets' | 'exclusions' | 'crossStackReferences'>): readonly string[] {
  const waits = Object.entries(crossStackReferences).map(([address, { stack, resource }]) => {
    return `${quoteIfNeeded(address)} is ${quoteIfNeeded(resource)} of the stack ${quoteIfNeeded(stack)}: its id is known after that stack is applied.`;
  });
  return [...describeTargetLimit(targets, exclusions), ...waits];
}

/** The sentence on the exit code, if there is one. */
export function listExitSentences(
  { command, exitCode }: Pick<FormatOptions, 'command' | 'exitCode'>,
  result: { readonly isApplicable: boolean; readonly isIncomplete: boolean },
): readonly Sentence[] {
  return listSaid([{ role: 'fact', text: formatExitSentence(command, exitCode, result), tone: 'error' }]);
}

/** Empty if there are no findings. */
export function listFindingsBlocks(
  findings: readonly ShownFinding[],
  about: FindingsBlock['about'] = 'diagnostics',
): readonly FindingsBlock[] {
  return findings.length === 0 ? [] : [{ block: 'findings', about, findings }];
}

/** A list below its heading. Empty if there are no items. */
export function listHeadedLists(
  list: keyof typeof PLAN_LIST_HEADINGS,
  items: readonly Text[],
  weight: ListBlock['weight'],
): readonly ListBlock[] {
  return items.length === 0 ? [] : [{ block: 'list', heading: PLAN_LIST_HEADINGS[list], items, weight }];
}

/** Notes on resources that stay as they are, which `--compact` counts. */
export function listUnchangedBlocks({
  changes,
  names,
  options: { compact = false },
}: {
  readonly changes: readonly Change[];
  readonly names: ResourceNames;
  readonly options: FormatOptions;
}): readonly Block[] {
  const unchanged = changes.flatMap((change) => listUnchangedNotes(change, names));
  if (!compact || unchanged.length === 0)
    return listHeadedLists('unchanged', unchanged, 'rest').map((block) => ({ ...block, limit: MAX_NOTES }));
  const count = `${formatCount(unchanged.length, 'note')} on resources that are left as they are: shown without --compact.`;
  return [{ block: 'list', items: [count], weight: 'rest' }];
}

/** What an apply leaves as it is, and why. */
function listUnchangedNotes(change: Change, names: ResourceNames): readonly string[] {
  const { notes = [] } = change;
  const address = formatChangeAddress(change);
  return [...notes, ...listLeftNotes(change, names), ...listSpellingNotes(change)].map(
    (note) => `${quoteIfNeeded(address)}: ${toPrintable(note)}`,
  );
}

/** The maximum number of notes on unchanged resources that a terminal shows. */
const MAX_NOTES = 20;

/** A table of what is due soon. `from`: the time of the report. */
export function listDueTables(changes: readonly Change[], from: string | undefined): readonly TableBlock[] {
  const due = listDue(changes, from);
  if (due.length === 0) return [];
  return [
    {
      block: 'table',
      heading: `Due within ${DUE_DAYS} days`,
      layout: 'rows',
      columns: ['Resource', 'What', 'When'],
      size: due.length,
      rows: due.map(({ address, said, at }) => ({ cells: [[toCode(address)], said, at] })),
      weight: 'rest',
      isFolded: false,
      isDetail: false,
    },
  ];
}

/** The commit and the pipeline run that the report is of, the time, and the version of Edgewise. */
export function formatOrigin(
  { made, tool }: Pick<Plan, 'made'> & { readonly tool: Pick<Plan['tool'], 'version'> },
  { pipeline = {} }: FormatOptions,
): Text {
  const { commit } = made ?? {};
  const page = commit === pipeline.commit ? pipeline.commitUrl : undefined;
  const parts: readonly (readonly Span[])[] = [
    ...(commit === undefined ? [] : [['Commit ', { text: shortenCommit(commit), style: 'code', page } as const]]),
    ...(pipeline.runUrl === undefined
      ? []
      : [[{ text: `run ${/\d+$/.exec(pipeline.runUrl)?.[0] ?? ''}`.trim(), page: pipeline.runUrl }]]),
    ...formatTime(made?.at).map((time) => [time]),
    [`edgewise ${tool.version}`],
  ];
  return parts.flatMap((part, index) => (index === 0 ? part : [' · ', ...part]));
}

function formatTime(at = ''): readonly string[] {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at) ?? [];
  return day === '' ? [] : [`${day} ${time} UTC`];
}
