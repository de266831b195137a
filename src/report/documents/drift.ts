import { isProtected } from '../../model/change.ts';
import { DRIFT_STATES } from '../../model/drift.ts';
import {
  type Block,
  type CountsBlock,
  type Document,
  type EntriesBlock,
  type Entry,
  type EntryDetails,
  type Sentence,
  type Text,
  toCode,
} from '../document.ts';
import type { DriftReport, FormatOptions } from '../report.ts';
import {
  createDriftView,
  type DriftedDetails,
  type DriftedView,
  type DriftGroup,
  type DriftView,
  STATE_LABELS,
  UNMANAGED_WORDING,
} from '../view/drift-view.ts';
import {
  createField,
  createPlaceFinder,
  describeChange,
  type FindPlace,
  formatDanger,
  formatTrait,
  listDangersBlocks,
} from './entries.ts';
import { formatOrigin, listListBlocks } from './plan.ts';

/** What happened at the service, by state; then what no stack manages. */
export function createDriftDocument({ drift }: DriftReport, options: FormatOptions): Document {
  const { isPart = false, scope = '' } = options;
  const view = createDriftView(drift, options);
  const findPlace = createPlaceFinder(drift, options);
  let number = 0;
  const groups = view.groups.map((group) =>
    createGroupBlock(group, view, (resource) => {
      number += 1;
      return createEntry(resource, { anchor: `${scope}resource-${number}`, findPlace });
    }),
  );
  const entries = groups.flatMap((block) => block.entries);
  return {
    command: 'drift',
    subject: drift.stack,
    title: view.title,
    headline: view.headline,
    notes: view.notes,
    conclusion: listDriftSentences(view),
    next: [],
    blocks: [
      ...(isPart ? [] : [createStateCounts(view), ...listDangersBlocks(view, { findPlace, entries })]),
      ...groups,
      ...listListBlocks('files', view.files, 'warning'),
      ...view.diagnostics.map((diagnostic) => ({ block: 'diagnostic', diagnostic }) as const),
      ...listListBlocks('unchanged', view.unchanged, 'rest'),
      ...listUnmanagedBlocks(view),
      ...listHintBlocks(view),
    ],
    origin: formatOrigin({ made: drift.made, tool: { version: options.version ?? '' } }, options),
  };
}

function listDriftSentences({
  summary,
  compared,
  coverage,
  requests,
  found,
  dangerCount,
}: DriftView): readonly Sentence[] {
  const sentences: readonly Sentence[] = [
    { role: 'result', text: summary, tone: 'strong' },
    { role: 'result', text: compared },
    { role: 'fact', text: coverage, tone: 'muted' },
    { role: 'fact', text: requests, tone: 'muted' },
    { role: 'pointer', to: 'diagnostic', text: found, tone: 'warning' },
    { role: 'pointer', to: 'dangers', text: dangerCount === '' ? '' : `! ${dangerCount}`, tone: 'error' },
  ];
  return sentences.filter(({ text }) => text !== '');
}

function createStateCounts({ counts }: DriftView): CountsBlock {
  return {
    block: 'counts',
    label: 'Resources by state',
    counts: DRIFT_STATES.map((state) => ({ group: state, label: STATE_LABELS[state], number: counts[state] })),
  };
}

function createGroupBlock(
  { heading, resources }: DriftGroup,
  { hasOwners }: DriftView,
  toEntry: (resource: DriftedView) => Entry,
): EntriesBlock {
  return {
    block: 'entries',
    heading,
    by: 'State',
    hasLabels: false,
    hasOwners,
    hasNext: true,
    entries: resources.map(toEntry),
  };
}

const GLYPHS: Readonly<Record<DriftGroup['state'], string>> = {
  drifted: '~',
  'drifted-and-pending': '≈',
  differs: '≠',
  missing: '✗',
  unowned: '?',
  'file-differs': '≠',
  pending: '»',
  'to-prune': '-',
};

interface EntryContext {
  readonly anchor: string;
  readonly findPlace: FindPlace;
}

function createEntry(resource: DriftedView, { anchor, findPlace }: EntryContext): Entry {
  const { state, kind, address, id, owner, reason, change } = resource;
  return {
    anchor,
    glyph: GLYPHS[state],
    kind,
    address,
    id,
    isDuplicate: change.duplicateOf !== undefined,
    isContinued: false,
    group: state,
    label: STATE_LABELS[state],
    reason,
    isProtected: isProtected(change),
    owner,
    dangerGroups: (change.driftDangers ?? []).map(({ group }) => group),
    isHeeded: true,
    describe: () => describeDrifted(resource.show(), findPlace),
  };
}

/** What happened, then the change of the next apply, as a plan shows it. */
function describeDrifted(view: DriftedDetails, findPlace: FindPlace): EntryDetails {
  const { change, dangers, fields, traits, next, planned } = view;
  const context = { change, place: findPlace(view), dangers, findPlace };
  const work = planned === undefined ? undefined : describeChange(planned, findPlace);
  return {
    place: context.place,
    traits: traits.map(formatTrait),
    dangers: dangers.map((one) => ({ group: one.group, said: formatDanger(one) })),
    notes: [],
    warnings: [],
    fields: fields.map((field) => createField(field, context)),
    lost: work?.lost ?? [],
    unchanged: 0,
    next: next === undefined ? undefined : { dangers: [], notes: [], fields: [], ...work, said: next },
  };
}

function listUnmanagedBlocks({ unmanaged }: DriftView): readonly Block[] {
  if (unmanaged.length === 0) return [];
  const items = unmanaged.map(
    ({ kind, id, description }): Text => [`${kind} `, toCode(id), description === '' ? '' : ` ${description}`],
  );
  return [
    {
      block: 'list',
      heading: UNMANAGED_WORDING.heading,
      items,
      weight: 'rest',
      note: UNMANAGED_WORDING.hint,
      limit: MAX_UNMANAGED,
    },
  ];
}

/** The maximum number of unmanaged resources that a terminal shows. An account may have thousands. */
const MAX_UNMANAGED = 20;

function listHintBlocks({ hints }: DriftView): readonly Block[] {
  return hints.length === 0 ? [] : [{ block: 'list', items: hints, weight: 'always' }];
}
