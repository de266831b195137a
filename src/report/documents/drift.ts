import { findKind } from '../../kinds/tables/registry.ts';
import { formatChangeAddress, isProtected } from '../../model/change.ts';
import {
  countDriftStates,
  DRIFT_STATES,
  type Drift,
  type DriftedChange,
  type DriftState,
  findDriftedId,
  isOfService,
  listUnmanaged,
  PROTECT_PATH,
  type UnownedResource,
} from '../../model/drift.ts';
import { toPrintable } from '../../model/printable.ts';
import {
  type Block,
  type CountsBlock,
  type Document,
  type Entry,
  type EntryDetails,
  type Field,
  type ListBlock,
  type ShownFinding,
  type Text,
  toCode,
  toPlainText,
} from '../document.ts';
import type { DriftReport, FormatOptions } from '../report.ts';
import {
  ABSENT_WORDING,
  formatCoverageSentence,
  formatDriftHeadline,
  formatDriftSummary,
  formatNextClause,
  listDriftDangerViews,
  listHints,
  STATE_HEADINGS,
  STATE_LABELS,
  UNMANAGED_WORDING,
} from '../view/drift-wording.ts';
import { quoteIfNeeded, quoteText } from '../view/escape.ts';
import { createHappenedFieldView, formatPathWithTargetName, formatShortField } from '../view/field-view.ts';
import { toFinding, toRefusal } from '../view/finding-wording.ts';
import { collectPlanAddressesById } from '../view/plan-headline.ts';
import { formatTeam } from '../view/plan-wording.ts';
import { redactDrift } from '../view/redact.ts';
import {
  formatReadRequestsSentence,
  formatReportSubject,
  formatSkippedSentence,
  NEXT_APPLY_PREFIX,
  shortenCommit,
} from '../view/wording.ts';
import { createDangerFinding, createFinding } from './create-finding.ts';
import {
  createEntriesBlocks,
  createField,
  createPlaceFinder,
  describeChange,
  type EntryContext,
  formatDanger,
  listDangersBlocks,
} from './entries.ts';
import {
  formatOrigin,
  listDueTables,
  listFindingsBlocks,
  listLimitNotes,
  listPointers,
  listSaid,
  listUnchangedBlocks,
} from './shared-parts.ts';

/** What happened at the service, by state; then what no stack manages. */
export function createDriftDocument({ drift: whole }: DriftReport, options: FormatOptions): Document {
  const { isPart = false, scope = '', unmanaged = listUnmanaged([whole]) } = options;
  const drift = redactDrift(whole);
  const { changes, diagnostics, violations, made, requests } = drift;
  const names = collectPlanAddressesById(drift);
  const findPlace = createPlaceFinder(drift, options);
  const refused = listRefusedAddresses(drift);
  const shown = changes.filter(({ state }) => state !== 'in-sync');
  const states = DRIFT_STATES.flatMap((state) => {
    const items = changes.filter((change) => change.state === state);
    return state === 'in-sync' || items.length === 0 ? [] : [{ heading: STATE_HEADINGS[state], items }];
  });
  const hasTeams = shown.some((change) => formatTeam(change) !== undefined);
  const by = { by: 'State', hasLabels: false, hasTeams, hasNext: true };
  const groups = createEntriesBlocks(states, by, (change, number) =>
    createEntry(change, { anchor: `${scope}resource-${number}`, names, findPlace, refused }),
  );
  const entries = groups.flatMap((block) => block.entries);
  const dangers = listDriftDangerViews(changes, names);
  const findings = diagnostics.map(toFinding);
  const read = [isPart ? '' : formatReadRequestsSentence(requests.read), formatSkippedSentence(drift.skipped)];
  const compared =
    made.commit === undefined ? '' : `Compared with the manifests at commit ${shortenCommit(made.commit)}.`;
  return {
    command: 'drift',
    subject: drift.stack,
    title: `Drift of ${formatReportSubject(drift)}`,
    headline: formatDriftHeadline(drift),
    notes: listLimitNotes(drift),
    conclusion: listSaid([
      { role: 'result', text: formatDriftSummary(drift), tone: 'strong' },
      { role: 'result', text: compared },
      { role: 'fact', text: formatCoverageSentence(drift), tone: 'muted' },
      { role: 'fact', text: read.filter(Boolean).join(' '), tone: 'muted' },
      ...listPointers(diagnostics, dangers),
    ]),
    isResultFirst: true,
    next: [],
    blocks: [
      ...(isPart
        ? []
        : [
            createStateCounts(drift),
            ...listDangersBlocks(dangers, {
              findPlace,
              entries,
              createFinding: (one) => createDangerFinding('drift-danger', one, { level: 'error' }),
            }),
          ]),
      ...groups,
      ...listFindingsBlocks(findings),
      ...listUnchangedBlocks({ changes: changes.filter(({ state }) => state === 'in-sync'), names, options }),
      ...listDueTables(changes, made.at),
      ...listUnmanagedBlocks(unmanaged),
      ...listHintBlocks(listHints(drift, options)),
    ],
    origin: formatOrigin({ made, tool: { version: options.version ?? '' } }, options),
    findings: [...violations.map(toRefusal), ...findings],
    locate: options.locate,
    addresses: changes.map(({ address }) => toPrintable(address)),
  };
}

/** The addresses of errors, of values that others claim or exchange, and of what a policy refuses: no flag allows these. */
function listRefusedAddresses({ diagnostics, violations }: Drift): ReadonlySet<string | undefined> {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ address }) => address);
  const refused = violations.filter(
    ({ rule }) => rule === 'claimed-elsewhere' || rule === 'value-exchange' || rule === 'policy',
  );
  return new Set([...errors, ...refused.flatMap(({ addresses }) => addresses)]);
}

function createUnmanagedFinding(resource: UnownedResource): ShownFinding {
  const { kind, id, description } = resource;
  const absence = formatAbsence(resource);
  const said = description === '' ? '' : `: ${quoteText(description)}`;
  const message = `${quoteIfNeeded(kind)} ${quoteIfNeeded(id)} is ${absence === '' ? 'unmanaged' : absence}${said}`;
  const { hint: remedy } = absence === '' ? UNMANAGED_WORDING : ABSENT_WORDING;
  return createFinding('unmanaged', 'notice', message, { remedy });
}

/** The maximum number of characters of a value in a finding: enough to recognize the value. */
const MAX_VALUE = 200;

function listDriftedFindings(
  change: DriftedChange,
  { reason, describe }: Pick<Entry, 'reason' | 'describe'>,
): readonly ShownFinding[] {
  const { state } = change;
  if (state === 'in-sync') return [];
  const { fields, traits, next } = describe();
  const address = formatChangeAddress(change);
  const why = [
    ...fields.map((field) => `${formatShortField(field, MAX_VALUE)} (${field.notes.join(', ')})`),
    ...(reason === undefined ? [] : [reason]),
    ...traits.map((trait) => toPlainText(trait).trim()),
    ...(next === undefined ? [] : [`${NEXT_APPLY_PREFIX}: ${next.said}`]),
    ...(next?.dangers ?? []).map(({ group, said }) => `${toPlainText(said)} (${group})`),
    ...(next?.notes ?? []),
    ...(traits.length > 0 ? [] : (next?.fields ?? [])).map((field) => formatShortField(field, MAX_VALUE)),
  ].join('; ');
  const rule = state === 'pending' || state === 'to-prune' ? 'pending' : 'drift';
  const message = `${quoteIfNeeded(address)} ${STATE_CLAUSES[state]}${why === '' ? '' : `: ${why}`}`;
  return [createFinding(rule, 'warning', message, { address })];
}

const STATE_CLAUSES: Readonly<Record<Exclude<DriftState, 'in-sync'>, string>> = {
  drifted: 'was changed at the service',
  'drifted-and-pending': 'was changed at the service, and has changes that were not applied',
  differs: 'differs from its manifest',
  missing: 'does not exist',
  unowned: 'exists without the mark of this stack',
  pending: 'has changes that were not applied',
  'to-prune': 'is no longer in a manifest',
};

function createStateCounts(drift: Drift): CountsBlock {
  const counts = countDriftStates(drift);
  return {
    block: 'counts',
    label: 'Resources by state',
    counts: DRIFT_STATES.map((state) => ({ group: state, label: STATE_LABELS[state], number: counts[state] })),
  };
}

const GLYPHS: Readonly<Record<DriftState, string>> = {
  drifted: '~',
  'drifted-and-pending': '≈',
  differs: '≠',
  missing: '✗',
  unowned: '?',
  pending: '»',
  'to-prune': '-',
  'in-sync': ' ',
};

interface DriftContext extends EntryContext {
  /** The addresses that the next apply does not reach. */
  readonly refused: ReadonlySet<string | undefined>;
}

function createEntry(change: DriftedChange, context: DriftContext): Entry {
  const { state, kind, address, reason, driftDangers = [], duplicateOf } = change;
  const id = findDriftedId(change);
  const said = reason === undefined ? undefined : toPrintable(reason);
  const describe = () => describeDrifted(change, context);
  return {
    anchor: context.anchor,
    glyph: GLYPHS[state],
    kind: quoteIfNeeded(kind),
    address: quoteIfNeeded(address),
    id: id === undefined ? undefined : quoteIfNeeded(id),
    isDuplicate: duplicateOf !== undefined,
    isContinued: false,
    group: state,
    label: STATE_LABELS[state],
    reason: said,
    isProtected: isProtected(change),
    team: formatTeam(change),
    dangerGroups: driftDangers.map(({ group }) => group),
    isHeeded: true,
    describe,
    listFindings: () => listDriftedFindings(change, { reason: said, describe }),
  };
}

/** What happened, from the expected to the live values, then the change of the next apply, as a plan shows it. */
function describeDrifted(change: DriftedChange, { names, findPlace, refused }: DriftContext): EntryDetails {
  const { address, action, differences } = change;
  const context = { kind: findKind(change.kind), names };
  const dangers = listDriftDangerViews([change], names);
  const first = differences.find(isOfService) ?? differences[0];
  const place = findPlace({ change, manifestPath: first && formatPathWithTargetName(first.path, context) });
  const pending = differences.filter(({ origin, isHidden }) => origin === 'manifest' || origin === 'both' || isHidden);
  const planned =
    action === 'no-op'
      ? undefined
      : describeChange({ change, action, differences: pending, isContinued: false }, { names, findPlace });
  const said = refused.has(address) ? 'is refused' : formatNextClause(change);
  return {
    place,
    traits: listExpectedTraits(change, planned?.traits ?? []),
    dangers: dangers.map((one) => ({ group: one.group, said: formatDanger(one) })),
    notes: [],
    warnings: [],
    fields: differences
      .filter(isOfService)
      .map((one) => createField(createHappenedFieldView(one, context), { change, place, dangers, findPlace })),
    lost: planned?.lost ?? [],
    unchanged: 0,
    next:
      said === undefined
        ? undefined
        : {
            said,
            dangers: planned?.dangers ?? [],
            notes: planned?.notes ?? [],
            fields: (planned?.fields ?? []).map((field) => withProtectionDoubt(field, change)),
          },
  };
}

function listExpectedTraits({ action }: DriftedChange, traits: readonly Text[]): readonly Text[] {
  const [first, ...more] = traits;
  if (first === undefined || action !== 'create') return traits;
  return [typeof first === 'string' ? `expected: ${first}` : ['expected: ', ...first], ...more];
}

/**
 * Adds a note that `protect` may have been removed at the service. A mark has no digest of `protect`, so the side that
 * changed is unknown.
 */
function withProtectionDoubt(field: Field, { differences }: DriftedChange): Field {
  const isRemoved = differences.some(({ path, from, to }) => path === PROTECT_PATH && to === true && from === false);
  if (field.path !== PROTECT_PATH || !isRemoved) return field;
  return { ...field, notes: [...field.notes, 'or removed at the service: the mark does not tell which'] };
}

function listUnmanagedBlocks(unmanaged: readonly UnownedResource[]): readonly Block[] {
  const absent = unmanaged.filter(({ absence }) => absence !== undefined);
  const rest = unmanaged.filter(({ absence }) => absence === undefined);
  const blocks = [...createUnmanagedBlocks(rest, UNMANAGED_WORDING), ...createUnmanagedBlocks(absent, ABSENT_WORDING)];
  // Programs get both as one list, in the order of the service.
  return blocks.map((block, index) =>
    index === 0 ? { ...block, findings: unmanaged.map(createUnmanagedFinding) } : block,
  );
}

function createUnmanagedBlocks(
  unmanaged: readonly UnownedResource[],
  { heading, hint }: { readonly heading: string; readonly hint: string },
): readonly ListBlock[] {
  if (unmanaged.length === 0) return [];
  const items = unmanaged.map((resource): Text => {
    const { kind, id, description } = resource;
    const more = [formatAbsence(resource), description === '' ? '' : quoteText(description)];
    return [`${quoteIfNeeded(kind)} `, toCode(quoteIfNeeded(id)), ...more.filter(Boolean).map((text) => ` ${text}`)];
  });
  return [{ block: 'list', heading, items, weight: 'rest', note: hint }];
}

/** Whose the resource is, if its stack is not in the repository. */
function formatAbsence({ stack = '', absence }: UnownedResource): string {
  return absence === undefined ? '' : `of the stack ${quoteIfNeeded(stack)}, which is not in this repository`;
}

function listHintBlocks(hints: readonly Text[]): readonly Block[] {
  return hints.length === 0 ? [] : [{ block: 'list', items: hints, weight: 'always' }];
}
