import { formatChangeAddress, isProtected } from '../../model/change.ts';
import { DRIFT_STATES } from '../../model/drift.ts';
import { toPrintable } from '../../model/printable.ts';
import {
  type Block,
  type CountsBlock,
  type Document,
  type Entry,
  type EntryDetails,
  type Finding,
  type Sentence,
  type Text,
  toCode,
} from '../document.ts';
import type { DriftReport, FormatOptions } from '../report.ts';
import {
  ABSENT_WORDING,
  createDriftView,
  type DriftedDetails,
  type DriftedView,
  type DriftGroup,
  type DriftView,
  STATE_LABELS,
  UNMANAGED_WORDING,
} from '../view/drift-view.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { formatShortField } from '../view/field-view.ts';
import { NEXT_APPLY_PREFIX } from '../view/wording.ts';
import type { EntryContext } from './entries.ts';
import {
  createEntriesBlocks,
  createField,
  createPlaceFinder,
  describeChange,
  type FindPlaceLink,
  formatDanger,
  formatTrait,
  listDangersBlocks,
  listDiagnosticsBlocks,
  listPointers,
  listSaid,
} from './entries.ts';
import {
  createDangerFinding,
  createDiagnosticFinding,
  createFinding,
  createViolationFinding,
  describeFindings,
} from './findings.ts';
import { formatOrigin, listUnchangedBlocks } from './plan.ts';

/** What happened at the service, by state; then what no stack manages. */
export function createDriftDocument({ drift }: DriftReport, options: FormatOptions): Document {
  const { isPart = false, scope = '' } = options;
  const view = createDriftView(drift, options);
  const findPlace = createPlaceFinder(drift, options);
  const states = view.groups.map(({ heading, resources: items }) => ({ heading, items }));
  const by = { by: 'State', hasLabels: false, hasOwners: view.hasOwners, hasNext: true };
  const groups = createEntriesBlocks(states, by, (resource, number) =>
    createEntry(resource, { anchor: `${scope}resource-${number}`, findPlace }),
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
      ...listDiagnosticsBlocks(view.diagnostics),
      ...listUnchangedBlocks(view, options),
      ...listUnmanagedBlocks(view),
      ...listHintBlocks(view),
    ],
    origin: formatOrigin({ made: drift.made, tool: { version: options.version ?? '' } }, options),
    // Dangers come first, unmanaged resources last.
    ...describeFindings(options, () => [
      ...view.dangers.map((one) => createDangerFinding('drift-danger', one, { level: 'error' })),
      ...drift.violations.map(createViolationFinding),
      ...drift.diagnostics.map(createDiagnosticFinding),
      ...view.groups.flatMap(({ resources }) => resources.map(createDriftedFinding)),
      ...view.unmanaged.map(({ kind, id, description, absence }) => {
        const what = absence === '' ? 'unmanaged' : absence;
        const message = `${kind} ${id} is ${what}${description === '' ? '' : `: ${description}`}`;
        const { hint: remedy } = absence === '' ? UNMANAGED_WORDING : ABSENT_WORDING;
        return createFinding('unmanaged', 'notice', message, { remedy });
      }),
    ]),
    addresses: drift.changes.map(({ address }) => toPrintable(address)),
  };
}

/** The maximum number of characters of a value in a finding: enough to recognize the value. */
const MAX_VALUE = 200;

function createDriftedFinding(resource: DriftedView): Finding {
  const { state, reason, change } = resource;
  const { fields, traits, next, planned } = resource.show();
  const address = formatChangeAddress(change);
  const described = traits.map(({ said, values }) => `${said} ${values}`.trim());
  const why = [
    ...fields.map((field) => `${formatShortField(field, MAX_VALUE)} (${field.notes.join(', ')})`),
    ...(reason === undefined ? [] : [reason]),
    ...described,
    ...(next === undefined ? [] : [`${NEXT_APPLY_PREFIX}: ${next}`]),
    ...(planned?.dangers ?? []).map(({ group, said }) => `${said} (${group})`),
    ...(planned?.notes ?? []),
    ...(described.length > 0 ? [] : (planned?.fields ?? [])).map((field) => formatShortField(field, MAX_VALUE)),
  ].join('; ');
  const rule = state === 'pending' || state === 'to-prune' ? 'pending' : 'drift';
  const message = `${quoteIfNeeded(address)} ${STATE_CLAUSES[state]}${why === '' ? '' : `: ${why}`}`;
  return createFinding(rule, 'warning', message, { address });
}

const STATE_CLAUSES: Readonly<Record<DriftGroup['state'], string>> = {
  drifted: 'was changed at the service',
  'drifted-and-pending': 'was changed at the service, and has changes that were not applied',
  differs: 'differs from its manifest',
  missing: 'does not exist',
  unowned: 'exists without the mark of this stack',
  pending: 'has changes that were not applied',
  'to-prune': 'is no longer in a manifest',
};

function listDriftSentences({
  summary,
  compared,
  coverage,
  requests,
  found,
  dangerCount,
}: DriftView): readonly Sentence[] {
  return listSaid([
    { role: 'result', text: summary, tone: 'strong' },
    { role: 'result', text: compared },
    { role: 'fact', text: coverage, tone: 'muted' },
    { role: 'fact', text: requests, tone: 'muted' },
    ...listPointers(found, dangerCount),
  ]);
}

function createStateCounts({ counts }: DriftView): CountsBlock {
  return {
    block: 'counts',
    label: 'Resources by state',
    counts: DRIFT_STATES.map((state) => ({ group: state, label: STATE_LABELS[state], number: counts[state] })),
  };
}

const GLYPHS: Readonly<Record<DriftGroup['state'], string>> = {
  drifted: '~',
  'drifted-and-pending': '≈',
  differs: '≠',
  missing: '✗',
  unowned: '?',
  pending: '»',
  'to-prune': '-',
};

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
function describeDrifted(view: DriftedDetails, findPlace: FindPlaceLink): EntryDetails {
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
  const absent = unmanaged.filter(({ absence }) => absence !== '');
  const rest = unmanaged.filter(({ absence }) => absence === '');
  return [...createUnmanagedBlocks(rest, UNMANAGED_WORDING), ...createUnmanagedBlocks(absent, ABSENT_WORDING)];
}

function createUnmanagedBlocks(
  unmanaged: DriftView['unmanaged'],
  { heading, hint }: { readonly heading: string; readonly hint: string },
): readonly Block[] {
  if (unmanaged.length === 0) return [];
  const items = unmanaged.map(({ kind, id, description, absence }): Text => {
    const more = [absence, description].filter(Boolean).map((text) => ` ${text}`);
    return [`${kind} `, toCode(id), ...more];
  });
  return [{ block: 'list', heading, items, weight: 'rest', note: hint }];
}

function listHintBlocks({ hints }: DriftView): readonly Block[] {
  return hints.length === 0 ? [] : [{ block: 'list', items: hints, weight: 'always' }];
}
